import type { BackupTarget, SnapshotSource } from '../api/backup-settings.ts';
import type { BackupPolicy } from '../api/cluster-backup.ts';
import type { EtcdBackup } from '../api/etcd-backup.ts';
import type { EtcdCluster } from '../api/etcd-cluster.ts';
import { longestBackupName } from '../api/identifiers.ts';
import { backupDefaults } from '../api/spec-defaults.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { storeSettingsOf } from '../stores/stores.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, labels, labelsOf } from './names.ts';

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

export interface BackupWish {
  readonly before: Occasion;
  /** Of an upgrade. */
  readonly start?: UpgradeStart;
  /** The UID of the EtcdBackup in whose place this one is taken, because that one is too old. */
  readonly after?: string;
  /** Of a deletion: what is stored already, and is only looked for. */
  readonly existing?: SnapshotSource;
}

/** What an upgrade starts from: the lowest version of a member, and the life of the cluster. */
interface UpgradeStart {
  readonly from: string;
  readonly clusterId: string;
}

/**
 * One wish per upgrade: from this version to that one, in this life of the cluster, in this store; other changes of the
 * spec ask for no new one. A later hibernation has another; a resource is deleted once.
 */
export function wishOf(cluster: EtcdCluster, { before, start, existing }: BackupWish): string {
  const { uid, generation } = cluster.metadata;
  const wishes = {
    upgrade: { ...start, to: versionOf(cluster), fields: fieldsOf(cluster) },
    hibernation: { uid, generation, before },
    deletion: { uid, before, ...(existing && { object: existing.object, sha256: existing.sha256 }) },
  } as const satisfies Record<Occasion, object>;
  return hashOf(wishes[before]).slice(0, 8);
}

function fieldsOf({ metadata, spec }: EtcdCluster) {
  const {
    beforeUpgrade: _,
    beforeHibernation: __,
    beforeDeletion: ___,
    ...fields
  } = spec.backup ?? none(metadata.name);
  return fields;
}

function versionOf({ spec: { version } }: EtcdCluster): string {
  return formatVersion(parseVersion(version));
}

/** A cluster's name may be longer than there is room for in an EtcdBackup's: the wish alone is unlike all others. */
export function backupBeforeName(cluster: EtcdCluster, wish: BackupWish): string {
  const { before, after } = wish;
  const what = before === 'upgrade' ? versionOf(cluster).replaceAll('.', '-') : before;
  const hash = wishOf(cluster, wish);
  const rest = `-before-${what}-${after === undefined ? hash : hashOf({ hash, after }).slice(0, 8)}`;
  return `${cluster.metadata.name.slice(0, longestBackupName - rest.length)}${rest}`;
}

/**
 * The EtcdBackup to await before the cluster changes or goes. It has no owner: the object in the bucket outlives the
 * cluster, and so does its record. @throws {TypeError} when the spec asks for none
 */
export function backupBefore(cluster: EtcdCluster, wish: BackupWish): EtcdBackup {
  const { name, namespace = '' } = cluster.metadata;
  const hash = wishOf(cluster, wish);
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      name: backupBeforeName(cluster, wish),
      namespace,
      labels: { ...labelsOf(name), [labels.wish]: hash },
      annotations: { [occasions[wish.before].annotation]: hash },
    },
    spec: { clusterName: name, ...fieldsOf(cluster), ...(wish.existing && lookingFor(wish.existing)) },
  };
}

/** By its whole name, with what reads it. Its bytes were proven when they were stored. */
function lookingFor(existing: SnapshotSource) {
  const { object, sha256 = '', caBundle, serviceAccountName } = existing;
  const to: BackupTarget = {
    object,
    ...storeSettingsOf(existing),
    ...(caBundle && { caBundle }),
    ...(serviceAccountName !== undefined && { serviceAccountName }),
  };
  return { to, verify: 'Trailer', existing: { sha256 } } as const;
}

/** Whether this very wish made it. */
export function isBackupBefore(backup: EtcdBackup, cluster: EtcdCluster, wish: BackupWish): boolean {
  return (
    backup.metadata.annotations?.[occasions[wish.before].annotation] === wishOf(cluster, wish) &&
    backup.spec.clusterName === cluster.metadata.name
  );
}

function none(name: string): never {
  throw new TypeError(`EtcdCluster ${name} asks for no backups`);
}
