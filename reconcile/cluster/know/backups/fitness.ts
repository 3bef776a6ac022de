import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import { isEtcdId, isSha256 } from '../../../../manifests/api/identifiers.ts';
import { parseLocation } from '../../../../manifests/api/object-template.ts';
import { isVersion, minorOf, parseVersion } from '../../../../manifests/api/version.ts';
import { snapshotOf } from '../../../../manifests/render/restored-cluster.ts';
import { conditionOf } from '../../../objects/conditions.ts';
import type { NamedBackup } from '../observation.ts';

/** What an EtcdBackup must be, besides Ready. */
export interface Asked {
  readonly name: string;
  /** That very object, and no later one of its name. */
  readonly uid?: string;
  /** It must be of this etcd cluster. */
  readonly clusterId?: string;
  /** It must have been restored and compared. */
  readonly proven?: boolean;
}

/**
 * Whether an EtcdBackup may take the place of data, or become a cluster: the one judgement for restores, rollbacks, and
 * deletions of clusters that sleep. Its status is not believed beyond what it has to say.
 *
 * @param found as the API server has it; `undefined`: there is none
 */
export function judgeBackup(asked: Asked, found: EtcdBackup | undefined): NamedBackup {
  const { name } = asked;
  const unfit = (why: string) => ({ name, kind: 'unfit', why }) as const;
  if (!found) return unfit('there is none of that name');
  const { metadata, status } = found;
  if (asked.uid !== undefined && metadata.uid !== asked.uid)
    return unfit('it was deleted, and another one has its name');
  if (metadata.deletionTimestamp !== undefined) return unfit('it is being deleted');
  const ready = conditionOf(status, 'Ready');
  if (ready?.status !== 'True') return unfit(`it is not Ready: ${ready?.message ?? 'it was not looked at yet'}`);
  const snapshot = snapshotOf(found);
  const { clusterID: clusterId, etcdVersion, snapshotBytes: bytes } = status ?? {};
  if (!snapshot || 'problem' in parseLocation(snapshot.object) || !isSha256(snapshot.sha256))
    return unfit('its status does not say which object it is');
  // It goes into a command that a person is to run.
  if (!isEtcdId(clusterId)) return unfit('its status does not say of which etcd cluster');
  if (asked.clusterId !== undefined && clusterId !== asked.clusterId)
    return unfit(`it is of etcd cluster ${clusterId}, and not of ${asked.clusterId}`);
  if (asked.proven && status?.verified === undefined) return unfit('it was not restored and compared');
  const backup = { name, uid: metadata.uid ?? '', clusterId, snapshot };
  const facts = { ...(isVersion(etcdVersion) && { etcdVersion }), ...(bytes !== undefined && { bytes }) };
  return { name, kind: 'fit', backup, ...facts };
}

/** By which etcd it was taken, where that is of a newer minor than this version, which could not read it. */
export function newerThan(version: string, view: NamedBackup | undefined): string | undefined {
  const taken = view?.kind === 'fit' ? view.etcdVersion : undefined;
  if (taken === undefined || !isVersion(version)) return undefined;
  return minorOf(parseVersion(taken)) > minorOf(parseVersion(version)) ? taken : undefined;
}
