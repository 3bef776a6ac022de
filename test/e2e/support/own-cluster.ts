import { type Binaries, binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { installKinds } from '../../support/cluster/kinds.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { type LocalCluster, type LocalClusterOptions, startLocalCluster } from '../../support/cluster/local-cluster.ts';
import { runInSandbox } from '../../support/cluster/sandbox.ts';

const ownSandbox = 'RATCHET_OWN_CLUSTER';

/**
 * The rest of the file runs in a sandbox of its own, where a local cluster unlike the shared one can be started:
 * addresses are fixed, and one network namespace has room for one.
 */
export async function inOwnSandbox(): Promise<Binaries> {
  const binaries = await provisionBinaries();
  if (process.env[ownSandbox] !== undefined) return binaries;
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.exit(await runInSandbox(command, { ...binariesEnvironment(binaries), [ownSandbox]: '1' }));
}

/** As the cluster of this process's scenes from now on. @param install our CRDs, if nothing else is given */
export async function startOwnCluster(
  options: LocalClusterOptions,
  install: (kubectl: Kubectl) => Promise<void> = installKinds,
): Promise<LocalCluster> {
  const cluster = await startLocalCluster(options);
  await install(cluster.kubectl);
  process.env.KUBECONFIG = cluster.kubeconfigPath;
  if (cluster.node) process.env.RATCHET_NODE_SOCKET = cluster.node.controlSocket;
  return cluster;
}
