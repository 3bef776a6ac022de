import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Desk, type ForgeServer, startForge } from '../../support/git/forge.ts';
import type { Scene } from './scene.ts';

export interface ForgeScene extends AsyncDisposable {
  readonly forge: ForgeServer;
  /** What the forge has of Git. */
  readonly repository: Scene['repository'];
  /** Puts the fleet production of this repository there, which tells the forge. */
  addFleet(spec?: Parameters<Scene['addFleet']>[1]): EtcdFleet;
}

/** A forge that wants a token, and the Secret that has it. @param desk of Bitbucket Cloud; absent: it is GitHub's */
export async function besideForge(scene: Scene, desk?: Desk): Promise<ForgeScene> {
  const token = 'forge-secret';
  const forge = await startForge({ token, ...(desk && { desk }) });
  scene.fake.seed(resources.secrets, {
    metadata: { namespace: 'platform', name: 'forge', labels: fleetSecretLabels },
    ...{ data: { token: Buffer.from(token).toString('base64') } },
  });
  const repository = await scene.git.createRepository('team/etcd');
  return {
    forge,
    repository,
    addFleet: (spec) =>
      scene.addFleet('production', {
        git: { url: repository.url, ref: 'main', path: '.' },
        forge: { type: desk ? 'BitbucketCloud' : 'GitHub', apiURL: forge.url, secretName: 'forge' },
        ...spec,
      }),
    [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose](),
  };
}
