import type { Binaries } from '../support/cluster/binaries.ts';
import { type LocalCluster, startLocalCluster } from '../support/cluster/local-cluster.ts';
import { type ForgeServer, startForge } from '../support/git/forge.ts';
import type { Repository } from '../support/git/repository.ts';
import { startGitServer } from '../support/git/server.ts';
import { deskOf } from './desk.ts';
import { fleetObjects, install } from './install.ts';

/** Where pods reach what runs beside the cluster: the pod network's gateway. */
const outside = '10.244.0.1';
export const ports = { git: 8080, forge: 8081 } as const;

/** A Kubernetes cluster, a Git server with the repository `platform/etcd`, and a forge for it. */
export interface Ground extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly forge: ForgeServer;
  readonly repository: Repository;
  /** As pods and the sandbox reach them. */
  readonly gitUrl: string;
  readonly forgeUrl: string;
  readonly token: string;
  /** What a user installs, and the fleet `production` with its Secrets. */
  install(): Promise<void>;
}

/** Only inside a sandbox: its addresses are fixed. */
export async function startGround(binaries: Binaries): Promise<Ground> {
  const token = 'demo-token';
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await startLocalCluster({ binaries }));
  const git = parts.use(await startGitServer({ host: '0.0.0.0', port: ports.git, auth: { token } }));
  const repository = await git.createRepository('platform/etcd');
  const desk = deskOf(repository);
  const forge = parts.use(await startForge({ host: '0.0.0.0', port: ports.forge, token, desk }));
  const gitUrl = `http://${outside}:${ports.git}/${new URL(repository.url).pathname.slice(1)}`;
  const forgeUrl = `http://${outside}:${ports.forge}`;

  const started = parts.move();
  return {
    cluster,
    forge,
    repository,
    gitUrl,
    forgeUrl,
    token,
    async install() {
      await install(cluster.kubectl);
      const stdin = fleetObjects({ gitUrl, forgeUrl, token });
      await cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin });
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
