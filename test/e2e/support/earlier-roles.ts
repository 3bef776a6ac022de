import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { LocalCluster } from '../../support/cluster/local-cluster.ts';
import { kubeconfigOfAccount } from './account-kubeconfig.ts';

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
export async function installEarlierRoles(cluster: LocalCluster): Promise<string> {
  const { kubectl } = cluster;
  const documents = parseAllDocuments(await kubectl(['kustomize', manifests])).map((one) => one.toJS());
  const objects = documents.flatMap((object) => {
    if (object.kind === 'CronJob') return [];
    if (object.kind !== 'ClusterRole' || object.metadata.name !== installed) return [object];
    return [{ ...object, rules: object.rules.filter(({ resources }: Rule) => !resources.includes('jobs')) }];
  });
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) });
  await kubectl(['-n', installed, 'create', 'quota', 'no-jobs', '--hard=count/jobs.batch=0']);
  return await kubeconfigOfAccount(cluster);
}
