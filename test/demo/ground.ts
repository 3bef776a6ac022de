import type { LeastBinaries } from '../support/cluster/binaries.ts';
import { type LocalCluster, startLocalCluster } from '../support/cluster/local-cluster.ts';
import { startPeoplesForge } from '../support/forge/forge.ts';
import type { PeoplesForge } from '../support/forge/peoples-forge.ts';
import { fleetObjects, install } from './install.ts';

/** Where pods reach what runs beside the cluster: the pod network's gateway. */
const outside = '10.244.0.1';
const port = 8080;

/** A Kubernetes cluster, and a forge with the repository `platform/etcd`. */
export interface Ground extends AsyncDisposable {
  readonly cluster: LocalCluster;
  /** At addresses that pods and the sandbox reach. */
  readonly forge: PeoplesForge;
  /** What a user installs, and the fleet `production` with its Secrets. */
  install(): Promise<void>;
}

/** Only inside a sandbox: its addresses are fixed. */
export async function startGround(binaries: LeastBinaries): Promise<Ground> {
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await startLocalCluster({ binaries }));
  const forge = parts.use(await startPeoplesForge({ host: outside, port }));

  const started = parts.move();
  return {
    cluster,
    forge,
    async install() {
      await install(cluster.kubectl);
      const stdin = fleetObjects(forge);
      await cluster.kubectl(['apply', '--server-side', '-f', '-'], { stdin });
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
