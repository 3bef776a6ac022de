import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { createHolderPod, type HolderPod } from './holder-pod.ts';
import { type MortalOptions, mortalEnv } from './mortal-options.ts';
import type { Scene } from './scene.ts';
import { tick } from './tick.ts';

const mortal = pathToFileURL(join(import.meta.dirname, 'mortal.ts')).href;
let ledgers = 0;

export interface Dying extends Partial<Pick<MortalOptions, 'dies'>> {
  /** When this part of the life is over. */
  readonly until: (cluster: EtcdCluster) => boolean;
  /** Seconds. */
  readonly within: number;
}

/**
 * Invocations of one cluster, each a process of its own, that die in turn after each write of what they have to do, and
 * before what is for good: the next one finds what the dead left behind, and dies a little later. Each place has one
 * death, so that in the end one lives. The pod of a dead one is seen terminated, so that its lease ends.
 *
 * @returns where they died, in order. @throws when it does not come about in time, naming what was seen last.
 */
export function dyingUntil(
  scene: Scene,
  name: string,
  { until, within, dies = 'everywhere' }: Dying,
): Promise<readonly string[]> {
  const args = ['--cluster', `${scene.namespace}/${name}`];
  return dyingUntilSo(scene, name, { args, within, dies, until: async () => until(await scene.cluster(name)) });
}

interface DyingSo extends Required<Pick<Dying, 'within' | 'dies'>> {
  readonly args: readonly string[];
  /** What else an invocation is told. */
  readonly env?: Readonly<Record<string, string>>;
  readonly until: () => Promise<boolean>;
}

/** The same, of invocations with any arguments; `name` is the cluster whose members' names are of no account. */
export async function dyingUntilSo(
  { namespace, kube }: Scene,
  name: string,
  { args, env = {}, until, within, dies }: DyingSo,
): Promise<readonly string[]> {
  const life = `${namespace}-${name}-${process.pid}-${ledgers++}`;
  const ledger = join(tmpdir(), `${life}.ledger`);
  await writeFile(ledger, '');
  const options: MortalOptions = { cluster: name, ledger, dies };
  const deadline = performance.now() + within * 1000;
  let holder: HolderPod | undefined;
  try {
    for (let number = 0; ; number++) {
      holder ??= await createHolderPod(kube, namespace, `${life}-${number}`);
      const { signal, code, stdout, stderr } = await tick({
        args,
        env: {
          ...env,
          ...holder.env,
          NODE_OPTIONS: `--import ${mortal}`,
          NODE_COMPILE_CACHE: join(tmpdir(), 'mortal-cache'),
          [mortalEnv]: JSON.stringify(options),
        },
      });
      const places = (await readFile(ledger, 'utf8')).split('\n').filter(Boolean);
      if (signal === 'SIGKILL') {
        await holder.terminate();
        holder = undefined;
      } else if (code !== 0) {
        throw new Error(`an invocation ended with ${code ?? signal}: ${stderr}`);
      } else if (await until()) {
        return places;
      } else {
        await pause(200);
      }
      if (performance.now() > deadline)
        throw new Error(
          `${name}: not within ${within} s, after ${places.length} deaths\n${places.at(-1)}\n${stdout}${stderr}`,
        );
    }
  } finally {
    await rm(ledger);
  }
}
