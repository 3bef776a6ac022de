import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalCluster } from '../../support/cluster/local-cluster.ts';

const installed = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };

/** @returns the path of a kubeconfig of that account, good for an hour. @param account unless given, that of ticks */
export async function kubeconfigOfAccount(
  { kubectl, kubeconfigPath, directory }: Pick<LocalCluster, 'kubectl' | 'kubeconfigPath' | 'directory'>,
  { namespace, name }: { readonly namespace: string; readonly name: string } = installed,
): Promise<string> {
  const token = (await kubectl(['-n', namespace, 'create', 'token', name, '--duration=1h'])).trim();
  const config = JSON.parse(await readFile(kubeconfigPath, 'utf8'));
  const path = join(directory, `${namespace}-${name}.kubeconfig`);
  await writeFile(path, JSON.stringify({ ...config, users: [{ ...config.users[0], user: { token } }] }), {
    mode: 0o600,
  });
  return path;
}
