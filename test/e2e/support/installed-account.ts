import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalCluster } from '../../support/cluster/local-cluster.ts';

const installed = 'etcd-ratchet';

/** @returns the path of a kubeconfig of the account that an installation ticks as, good for an hour. */
export async function kubeconfigOfInstalled({
  kubectl,
  kubeconfigPath,
  directory,
}: Pick<LocalCluster, 'kubectl' | 'kubeconfigPath' | 'directory'>): Promise<string> {
  const token = (await kubectl(['-n', installed, 'create', 'token', installed, '--duration=1h'])).trim();
  const config = JSON.parse(await readFile(kubeconfigPath, 'utf8'));
  const path = join(directory, 'installed.kubeconfig');
  await writeFile(path, JSON.stringify({ ...config, users: [{ ...config.users[0], user: { token } }] }), {
    mode: 0o600,
  });
  return path;
}
