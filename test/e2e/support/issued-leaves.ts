import assert from 'node:assert/strict';
import type { Pod, Secret } from '../../../manifests/kube-types.ts';
import { memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Scene } from './scene.ts';
import { fingerprintIn, shownAt } from './wire.ts';

/** @throws {AssertionError} when it is not there. */
export async function secretIn({ get }: Scene, name: string): Promise<Secret> {
  return (await get<Secret>(resources.secrets, name)) ?? assert.fail(`there is no Secret ${name}`);
}

/** Every one of these members presents what cert-manager issued, on both ports. @throws {AssertionError} */
export async function assertShown(scene: Scene, cluster: string, peers: readonly string[]): Promise<void> {
  const { namespace, get } = scene;
  for (const peer of peers) {
    const pod = await get<Pod>(resources.pods, `${peer}-0`);
    for (const plan of memberLeaves({ namespace, cluster }, peer)) {
      const issued = await secretIn(scene, `${plan.secretName}-issued`);
      const port = plan.purpose === 'peer' ? 2380 : 2379;
      const shown = await shownAt(pod?.status?.podIP ?? '', port, podHost(namespace, cluster, peer), issued);
      assert.equal(shown, fingerprintIn(issued), plan.secretName);
    }
  }
}
