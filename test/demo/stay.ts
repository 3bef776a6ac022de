import { once } from 'node:events';
import { openOutlet } from '../support/cluster/bridge.ts';
import type { LocalCluster } from '../support/cluster/local-cluster.ts';

export interface StayOptions {
  readonly cluster: LocalCluster;
  readonly kubectlPath: string;
  readonly gitPort: number;
  /** `/etcd.git` */
  readonly repository: string;
  readonly token: string;
}

/** Keeps everything up until Ctrl-C, reachable from outside the namespace on 127.0.0.1, and says how to use it. */
export async function stay({ cluster, kubectlPath, gitPort, repository, token }: StayOptions): Promise<void> {
  await using git = await openOutlet({ host: '127.0.0.1', port: gitPort });
  const kubeconfig = await cluster.expose();
  console.log(`
It stays up until you press Ctrl-C. In another terminal:

  export KUBECONFIG=${kubeconfig}
  ${kubectlPath} -n payments get etcdclusters,etcdpeers
  ${kubectlPath} -n payments describe etcdcluster orders
  git clone http://ada:${token}@127.0.0.1:${git.port}${repository}

Push a change, then wait for the minute, or make a tick of your own:

  ${kubectlPath} -n etcd-ratchet create job --from=cronjob/etcd-ratchet mine-$RANDOM

Worth a try: kubectl -n payments delete pod orders-0-0 · delete etcdcluster orders (its volumes stay; the next tick brings it back,
data and all) · a version like 3.5.35 (a downgrade, refused by name) · a document with a tab in it.
`);
  const alive = setInterval(() => {}, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
}
