import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { LocalCluster } from '../../support/cluster/local-cluster.ts';

const manifests = resolve(import.meta.dirname, '../../../manifests/install');
const installed = 'etcd-ratchet';

interface Rule {
  readonly resources: readonly string[];
}

/**
 * The installation of an earlier release, whose role knows no Jobs. It never ticks, also when that of this release is
 * applied over it: a quota of its namespace takes no Jobs.
 *
 * @returns the kubeconfig of what it ticks as.
 */
export async function installEarlierRoles({ kubectl, kubeconfigPath, directory }: LocalCluster): Promise<string> {
  const documents = parseAllDocuments(await kubectl(['kustomize', manifests])).map((one) => one.toJS());
  const objects = documents.flatMap((object) => {
    if (object.kind === 'CronJob') return [];
    if (object.kind !== 'ClusterRole' || object.metadata.name !== installed) return [object];
    return [{ ...object, rules: object.rules.filter(({ resources }: Rule) => !resources.includes('jobs')) }];
  });
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) });
  await kubectl(['-n', installed, 'create', 'quota', 'no-jobs', '--hard=count/jobs.batch=0']);
  const token = (await kubectl(['-n', installed, 'create', 'token', installed, '--duration=1h'])).trim();
  const config = JSON.parse(await readFile(kubeconfigPath, 'utf8'));
  const path = join(directory, 'installed.kubeconfig');
  await writeFile(path, JSON.stringify({ ...config, users: [{ ...config.users[0], user: { token } }] }), {
    mode: 0o600,
  });
  return path;
}
