import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';
import type { Ended } from './warm-ticks.ts';

/** Ticks of which every word is kept. */
export interface Transcript {
  tick(...args: string[]): Promise<Ended>;
  /** As `Scene.tickUntil`. */
  tickUntil(name: string, check: (cluster: EtcdCluster) => boolean, within?: number): Promise<EtcdCluster>;
  /** All that they said so far, on both streams. */
  words(): string;
}

export function transcriptOf(scene: Scene): Transcript {
  const said: string[] = [];
  async function tick(...args: string[]): Promise<Ended> {
    const result = await scene.tick(...args);
    said.push(result.stdout, result.stderr);
    return result;
  }
  return {
    tick,
    words: () => said.join('\n'),
    tickUntil: (name, check, within = 120) =>
      until(
        `${name} as expected`,
        async () => {
          await tick('--wait=2');
          const found = await scene.cluster(name);
          return check(found) ? found : undefined;
        },
        { within, last: () => said.slice(-2).join('').slice(-600) },
      ),
  };
}
