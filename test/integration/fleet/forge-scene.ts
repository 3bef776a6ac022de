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

interface ForgeOptions {
  /** Of Bitbucket Cloud; absent: it is GitHub's. */
  readonly desk?: Desk | undefined;
  /** An App's private key in PEM; absent: a token. */
  readonly app?: string | undefined;
}

/** A forge, and the Secret that it wants. */
export async function besideForge(scene: Scene, { desk, app }: ForgeOptions = {}): Promise<ForgeScene> {
  const token = 'forge-secret';
  const forge = await startForge(app === undefined ? { token, ...(desk && { desk }) } : { app: true });
  const credentials = app === undefined ? { token } : { appId: '1', installationId: '2', privateKey: app };
  const encoded = Object.entries(credentials).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  scene.fake.seed(resources.secrets, {
    metadata: { namespace: 'platform', name: 'forge', labels: fleetSecretLabels },
    ...{ data: Object.fromEntries(encoded) },
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
