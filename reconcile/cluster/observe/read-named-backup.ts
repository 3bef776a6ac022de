import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { isEtcdId, isSha256 } from '../../../manifests/api/identifiers.ts';
import { parseLocation } from '../../../manifests/api/object-template.ts';
import { isVersion } from '../../../manifests/api/version.ts';
import { snapshotOf } from '../../../manifests/render/restored-cluster.ts';
import { conditionOf } from '../../conditions.ts';
import { type Kube, KubeError, resources } from '../../kube.ts';
import type { NamedBackup, Observation } from '../know/observation.ts';
import { backupBegun, isRolledBack } from '../know/rollback.ts';

type Seen = Pick<Observation, 'cluster' | 'slots' | 'namedBackups'>;

/**
 * The EtcdBackup that the spec names for a rollback: read until the rollback has begun, because its volume remembers
 * from then on what it goes back to.
 *
 * @throws {KubeError} for what may pass
 */
export async function readNamedBackup(kube: Kube, seen: Seen, signal: AbortSignal): Promise<readonly NamedBackup[]> {
  const { metadata, spec } = seen.cluster;
  const { backupName: name, clusterID } = spec.rollback ?? {};
  if (name === undefined || clusterID === undefined) return [];
  if (isRolledBack(clusterID, seen) || backupBegun(seen) || seen.namedBackups?.some((one) => one.name === name))
    return [];
  try {
    return [viewOf(name, await kube.get<EtcdBackup>(resources.backups, metadata.namespace, name, { signal }))];
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return [{ name, kind: 'unfit', why: `it cannot be read: ${error.message}` }];
  }
}

function viewOf(name: string, found: EtcdBackup | undefined): NamedBackup {
  const unfit = (why: string) => ({ name, kind: 'unfit', why }) as const;
  if (!found) return unfit('there is none of that name');
  const { metadata, status } = found;
  if (metadata.deletionTimestamp !== undefined) return unfit('it is being deleted');
  const ready = conditionOf(status, 'Ready');
  if (ready?.status !== 'True') return unfit(`it is not Ready: ${ready?.message ?? 'it was not looked at yet'}`);
  const snapshot = snapshotOf(found);
  const { clusterID: clusterId, etcdVersion } = status ?? {};
  if (!snapshot || 'problem' in parseLocation(snapshot.object) || !isSha256(snapshot.sha256))
    return unfit('its status does not say which object it is');
  // It goes into a command that a person is to run.
  if (!isEtcdId(clusterId)) return unfit('its status does not say of which etcd cluster');
  const backup = { name, uid: metadata.uid ?? '', clusterId, snapshot };
  return { name, kind: 'fit', backup, ...(isVersion(etcdVersion) && { etcdVersion }) };
}
