import type { SnapshotSource } from '../../../../manifests/api/backup-settings.ts';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { parseLocation } from '../../../../manifests/api/object-template.ts';
import { type Named, namedBy } from '../../../../manifests/render/offers.ts';
import { sourceOf, wishOf } from '../../../../manifests/render/snapshot-id.ts';
import { isOfRestore } from '../../../../manifests/render/volume-record.ts';
import { hostNamed, type NamedHost } from '../../../../manifests/stores/stores.ts';
import { hasDeparted, recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/** The snapshot that a cluster is to be born from. */
export interface WantedSnapshot {
  /** Of the spec. */
  readonly field: 'spec.bootstrap.snapshot' | 'spec.rollback.snapshot' | 'spec.rollback.backupName';
  readonly object: string;
  /** Of the whole wish: a restore that failed is tried again with another one. */
  readonly id: string;
  /** Of the data: what volumes remember. */
  readonly source: string;
  /** As the spec or the EtcdBackup says it. */
  readonly revision?: number;
  /** Of its store, where the spec names one. */
  readonly host?: NamedHost;
  /** What its Job uses of the namespace. */
  readonly named: readonly Named[];
}

/** A snapshot on the PersistentVolumeClaim of a member: what a plan, a step and the request say of it. */
export const onMember = {
  means: 'no other pod mounts it',
  cure: 'copy the file to another PersistentVolumeClaim or into a bucket, and name that as the snapshot',
} as const;

/** Of what its owner does not offer. */
export const notOfferedCure = 'have its owner run that command, or name another one';

/** A host that the installation does not let a restore ask. */
export const hostRefusedCure = 'name a store at another host, or have the admin of the installation list this one';

/** The host that a snapshot names in place of its store's own. */
export function endpointOf(snapshot: SnapshotSource): string | undefined {
  return hostOf(snapshot)?.endpoint;
}

/** And whether it would be sent a token. */
export function hostOf(snapshot: SnapshotSource): NamedHost | undefined {
  const location = parseLocation(snapshot.object);
  return 'problem' in location ? undefined : hostNamed(location, snapshot);
}

export function wantedSnapshot({ spec }: Pick<EtcdCluster, 'spec'>): WantedSnapshot | undefined {
  const snapshot = spec.bootstrap?.snapshot;
  return snapshot && wantedOf(snapshot, 'spec.bootstrap.snapshot');
}

export function wantedOf(snapshot: SnapshotSource, field: WantedSnapshot['field']): WantedSnapshot {
  const host = hostOf(snapshot);
  return {
    field,
    object: snapshot.object,
    id: wishOf(snapshot),
    source: sourceOf(snapshot),
    ...(snapshot.revision !== undefined && { revision: snapshot.revision }),
    ...(host !== undefined && { host }),
    named: namedBy(snapshot),
  };
}

/** The member whose volume the snapshot is restored to, until it is sealed. */
export function restoringIn(slots: readonly Slot[]): Slot | undefined {
  return slots.find((slot) => {
    const record = recordOf(slot);
    return record !== undefined && isOfRestore(record);
  });
}

/** Of a rollback: the members of the cluster that is given up may still serve. */
export function isTakingOver(slots: readonly Slot[]): boolean {
  const slot = restoringIn(slots.filter((one) => !hasDeparted(one)));
  return slot !== undefined && recordOf(slot)?.gaveUp !== undefined;
}

/** What the cluster with this token was born from, as its volumes remember it. */
export function sourceOfBirth(slots: readonly Slot[], token: string): string | undefined {
  return slots
    .flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot) ?? [])))
    .find((record) => record.token === token && record.restoredFrom !== undefined)?.restoredFrom;
}
