import assert from 'node:assert/strict';
import type { Pod, Secret } from '../../../manifests/kube-types.ts';
import { memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Scene } from './scene.ts';
import { type Answer, ask, fingerprintIn, shownAt, type Target, textIn } from './wire.ts';

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

/** What the first member of a cluster answers to who shows this certificate, and verifies it by that CA. */
export async function askedBy(
  shown: Secret,
  { get, namespace }: Scene,
  { cluster, ca, port = 2379, ...what }: Partial<Target> & { readonly cluster: string; readonly ca: string },
): Promise<Answer> {
  const pod = await get<Pod>(resources.pods, `${cluster}-0-0`);
  const [cert = '', key = ''] = ['tls.crt', 'tls.key'].map((name) => textIn(shown, name));
  const tls = { serverName: podHost(namespace, cluster, `${cluster}-0`), ca, cert, key };
  return ask({ host: pod?.status?.podIP ?? '', port, tls, ...what });
}
