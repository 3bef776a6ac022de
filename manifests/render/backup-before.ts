import type { BackupPolicy } from '../api/cluster-backup.ts';
import { type EtcdBackup, longestBackupName } from '../api/etcd-backup.ts';
import type { EtcdCluster } from '../api/etcd-cluster.ts';
import { backupDefaults } from '../api/spec-defaults.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, labelsOf } from './names.ts';

/** What a cluster's own backup is taken before. */
export type Occasion = 'upgrade' | 'hibernation' | 'deletion';

/** The field of `spec.backup` that asks for it, and the annotation that says which wish made it. */
export const occasions = {
  upgrade: { field: 'beforeUpgrade', annotation: annotations.beforeUpgrade },
  hibernation: { field: 'beforeHibernation', annotation: annotations.beforeHibernation },
  deletion: { field: 'beforeDeletion', annotation: annotations.beforeDeletion },
} as const satisfies Record<Occasion, object>;

export function backupPolicy({ spec: { backup } }: EtcdCluster, before: Occasion): BackupPolicy {
  const { field } = occasions[before];
  return backup === undefined ? 'Never' : (backup[field] ?? backupDefaults[field]);
}

/**
 * One for each wish: the same version, asked for again by a later spec, gets another, and so does a later hibernation.
 * A resource is deleted once. Of a namesake that was deleted it is never.
 */
function wishOf(cluster: EtcdCluster, before: Occasion): string {
  const { uid, generation } = cluster.metadata;
  const wishes = {
    upgrade: { uid, generation, version: versionOf(cluster) },
    hibernation: { uid, generation, before },
    deletion: { uid, before },
  } as const satisfies Record<Occasion, object>;
  return hashOf(wishes[before]).slice(0, 8);
}

function versionOf({ spec: { version } }: EtcdCluster): string {
  return formatVersion(parseVersion(version));
}

/** A cluster's name may be longer than there is room for in an EtcdBackup's: the wish alone is unlike all others. */
export function backupBeforeName(cluster: EtcdCluster, before: Occasion): string {
  const what = before === 'upgrade' ? versionOf(cluster).replaceAll('.', '-') : before;
  const rest = `-before-${what}-${wishOf(cluster, before)}`;
  return `${cluster.metadata.name.slice(0, longestBackupName - rest.length)}${rest}`;
}

/**
 * The EtcdBackup that is awaited before the cluster changes or goes. Nothing owns it: what is in the bucket outlives
 * the cluster, and so does what is known of it.
 *
 * @throws {TypeError} when the spec asks for none
 */
export function backupBefore(cluster: EtcdCluster, before: Occasion): EtcdBackup {
  const { name, namespace = '' } = cluster.metadata;
  const { beforeUpgrade: _, beforeHibernation: __, beforeDeletion: ___, ...fields } = cluster.spec.backup ?? none(name);
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      name: backupBeforeName(cluster, before),
      namespace,
      labels: labelsOf(name),
      annotations: { [occasions[before].annotation]: wishOf(cluster, before) },
    },
    spec: { clusterName: name, ...fields },
  };
}

/** Whether this very wish made it. */
export function isBackupBefore(backup: EtcdBackup, cluster: EtcdCluster, before: Occasion): boolean {
  return (
    backup.metadata.annotations?.[occasions[before].annotation] === wishOf(cluster, before) &&
    backup.spec.clusterName === cluster.metadata.name
  );
}

function none(name: string): never {
  throw new TypeError(`EtcdCluster ${name} asks for no backups`);
}
