import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { isReason, resources } from '../../reconcile/interfaces/kube.ts';
import { isTrue } from '../../reconcile/objects/conditions.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { nextCommand, say } from './objects.ts';
import { clusterInFile } from './spec-file.ts';

interface RestoreOptions {
  /** The new cluster. */
  readonly to: string;
  /** With its spec; absent: that of the cluster that was backed up. */
  readonly file?: string;
}

/**
 * Asks for a new cluster with the data of a backup, beside the one that was backed up, which is not touched.
 * @throws {Refusal} when the backup is not Ready, the new name is taken, or no spec is known.
 */
export async function restore(backupName: string, asked: Asked, { to, file }: RestoreOptions): Promise<ExitCode> {
  const { kube, namespace, stop } = asked;
  const backup = await kube.get<EtcdBackup>(resources.backups, namespace, backupName, { signal: stop });
  if (!backup)
    throw new Refusal(
      `there is no EtcdBackup ${namespace}/${backupName}; see those that there are: ${nextCommand(asked, 'backups')}`,
    );
  if (!isTrue(backup.status, 'Ready'))
    throw new Refusal(`EtcdBackup ${namespace}/${backupName} is not Ready: there is nothing to restore yet`);
  if (await kube.get<EtcdCluster>(resources.clusters, namespace, to, { signal: stop }))
    throw new Refusal(`EtcdCluster ${namespace}/${to} exists: a restore makes a new one; name another by --to`);
  const spec =
    file === undefined ? await specOf(backup, asked) : (await clusterInFile(file, { namespace, name: to })).spec;
  const { bootstrap: _, rollback: __, ...wanted } = spec;
  const made: EtcdRestore = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdRestore',
    metadata: { namespace, name: to },
    spec: { backupName, cluster: { name: to, spec: wanted } },
  };
  try {
    await kube.create(resources.restores, made, { signal: stop });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    throw new Refusal(`EtcdRestore ${namespace}/${to} exists: it is done once; name another cluster by --to`);
  }
  const sentence = `EtcdRestore ${namespace}/${to} is asked for: the next pass makes EtcdCluster ${to}, within a minute`;
  say(asked, `${sentence}: ${nextCommand(asked, `why ${to}`)}`, made);
  return 0;
}

async function specOf({ spec }: EtcdBackup, { kube, namespace, stop }: Asked): Promise<EtcdCluster['spec']> {
  const { clusterName } = spec;
  if (clusterName === undefined)
    throw new Refusal('this backup is of no EtcdCluster here: give the spec of the new one by --file');
  const found = await kube.get<EtcdCluster>(resources.clusters, namespace, clusterName, { signal: stop });
  if (found) return found.spec;
  throw new Refusal(
    `EtcdCluster ${namespace}/${clusterName}, of which this is a backup, does not exist any more: give the spec of the new one by --file`,
  );
}
