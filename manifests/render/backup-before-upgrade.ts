import { type EtcdBackup, longestBackupName } from '../api/etcd-backup.ts';
import type { EtcdCluster } from '../api/etcd-cluster.ts';
import { formatVersion, parseVersion } from '../api/version.ts';
import { hashOf } from './inputs-hash.ts';
import { annotations, labelsOf } from './names.ts';

/**
 * One for each wish: the same version, asked for again by a later spec, gets another. Of a namesake that was deleted it
 * is never.
 */
function wishOf(cluster: EtcdCluster): string {
  const { uid, generation } = cluster.metadata;
  return hashOf({ uid, generation, version: versionOf(cluster) }).slice(0, 8);
}

function versionOf({ spec: { version } }: EtcdCluster): string {
  return formatVersion(parseVersion(version));
}

/** A cluster's name may be longer than there is room for in an EtcdBackup's: the wish alone is unlike all others. */
export function backupBeforeUpgradeName(cluster: EtcdCluster): string {
  const rest = `-before-${versionOf(cluster).replaceAll('.', '-')}-${wishOf(cluster)}`;
  return `${cluster.metadata.name.slice(0, longestBackupName - rest.length)}${rest}`;
}

/**
 * The EtcdBackup that holds the first step of an upgrade. Nothing owns it: what is in the bucket outlives the cluster,
 * and so does what is known of it.
 *
 * @throws {TypeError} when the spec asks for none
 */
export function backupBeforeUpgrade(cluster: EtcdCluster): EtcdBackup {
  const { name, namespace = '' } = cluster.metadata;
  const { beforeUpgrade: _, ...fields } = cluster.spec.backup ?? noBackup(name);
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      name: backupBeforeUpgradeName(cluster),
      namespace,
      labels: labelsOf(name),
      annotations: { [annotations.beforeUpgrade]: wishOf(cluster) },
    },
    spec: { clusterName: name, ...fields },
  };
}

/** Whether this very wish made it. */
export function isBeforeUpgradeOf(backup: EtcdBackup, cluster: EtcdCluster): boolean {
  return (
    backup.metadata.annotations?.[annotations.beforeUpgrade] === wishOf(cluster) &&
    backup.spec.clusterName === cluster.metadata.name
  );
}

function noBackup(name: string): never {
  throw new TypeError(`EtcdCluster ${name} asks for no backups`);
}
