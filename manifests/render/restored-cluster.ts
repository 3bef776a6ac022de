import type { SnapshotSource } from '../api/backup-settings.ts';
import type { EtcdBackup } from '../api/etcd-backup.ts';
import type { EtcdCluster } from '../api/etcd-cluster.ts';
import type { EtcdRestore } from '../api/etcd-restore.ts';
import { storeSettingsOf } from '../stores/stores.ts';
import { annotations } from './names.ts';

/** The object of a backup, with the settings for reading it, and what tells it from any other object. */
export function snapshotOf({ spec, status }: EtcdBackup): SnapshotSource | undefined {
  if (status?.object === undefined) return undefined;
  const { caBundle, encryption, serviceAccountName } = spec.to;
  const { identitySecretName } = encryption ?? {};
  return {
    object: status.object,
    ...(status.sha256 !== undefined && { sha256: status.sha256 }),
    ...(status.revision !== undefined && status.revision > 0 && { revision: status.revision }),
    ...storeSettingsOf(spec.to),
    ...(caBundle && { caBundle }),
    ...(identitySecretName !== undefined && { encryption: { identitySecretName } }),
    ...(serviceAccountName !== undefined && { serviceAccountName }),
  };
}

/** The cluster that a restore makes. It bears the restore's UID, and no owner: it outlives the restore. */
export function restoredCluster({ metadata, spec }: EtcdRestore, snapshot: SnapshotSource): EtcdCluster {
  const { namespace, uid = '' } = metadata;
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: {
      name: spec.cluster.name,
      ...(namespace !== undefined && { namespace }),
      annotations: { [annotations.restoredBy]: uid },
    },
    spec: { ...spec.cluster.spec, bootstrap: { snapshot } },
  };
}

export function isRestoredBy({ metadata }: Pick<EtcdCluster, 'metadata'>, uid: string): boolean {
  return uid !== '' && metadata.annotations?.[annotations.restoredBy] === uid;
}
