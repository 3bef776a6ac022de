import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOutlet } from '../cluster/bridge.ts';

export interface StayOptions {
  readonly kubeconfigPath: string;
  readonly kubectlPath: string;
  readonly gitPort: number;
  /** `/etcd.git` */
  readonly repository: string;
  readonly token: string;
}

/** Keeps everything up until Ctrl-C, reachable from outside the namespace on 127.0.0.1, and says how to use it. */
export async function stay({ kubeconfigPath, kubectlPath, gitPort, repository, token }: StayOptions): Promise<void> {
  await using api = await openOutlet({ host: '127.0.0.1', port: 6443 });
  await using git = await openOutlet({ host: '127.0.0.1', port: gitPort });
  // The run's own directory is invisible from outside; this copy is not, and goes when we do.
  const shared = await mkdtemp(join(tmpdir(), 'etcd-ratchet-demo-'));
  const kubeconfig = join(shared, 'kubeconfig');
  const original = await readFile(kubeconfigPath, 'utf8');
  await writeFile(kubeconfig, original.replace(/https:\/\/[^\s"]+/, `https://127.0.0.1:${api.port}`), { mode: 0o600 });
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
  await rm(shared, { recursive: true, force: true });
}
