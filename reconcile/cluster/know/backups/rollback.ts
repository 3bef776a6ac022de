import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { wishOf } from '../../../../manifests/render/snapshot-id.ts';
import { isAspirant, type ResolvedBackup } from '../../../../manifests/render/volume-record.ts';
import { type Life, recordOf } from '../life.ts';
import type { NamedBackup, Observation, Slot } from '../observation.ts';
import { gaveUpBy } from '../recovery/outvoted.ts';
import { newerThan } from './fitness.ts';
import { type WantedSnapshot, wantedOf } from './restore.ts';
import { tooFarAhead } from './revisions.ts';

/** A snapshot that the spec asks to go back to, under the same name. */
export interface WantedRollback extends WantedSnapshot {
  /** The etcd cluster that is given up for it. */
  readonly clusterId: string;
  /** Where the spec names an EtcdBackup: what that is, or was when the rollback began. */
  readonly backup?: ResolvedBackup;
  /** What a person sets to approve exactly this. */
  readonly approval: string;
}

type Seen = Pick<Observation, 'cluster' | 'slots' | 'namedBackups' | 'newestBackup'>;

/**
 * The approval names the etcd cluster that is given up, and the snapshot with its digest: it fits no other cluster of
 * this name, neither the one that the rollback makes, and no other backup. Of a backup of another etcd cluster it names
 * that one, too.
 *
 * @returns `undefined`: the spec asks for none, or names an EtcdBackup that can't be gone back to
 */
export function wantedRollback(seen: Seen): WantedRollback | undefined {
  const { rollback } = seen.cluster.spec;
  if (!rollback) return undefined;
  const { clusterID: clusterId } = rollback;
  const backup = rollback.backupName === undefined ? undefined : backupGoneBackTo(seen);
  const snapshot = rollback.snapshot ?? backup?.snapshot;
  if (!snapshot) return undefined;
  const approval = `${clusterId}/${hashOf({ clusterId, snapshot: wishOf(snapshot) }).slice(0, 12)}`;
  const isForeign = backup !== undefined && backup.clusterId !== clusterId;
  return {
    ...wantedOf(snapshot, backup ? 'spec.rollback.backupName' : 'spec.rollback.snapshot'),
    clusterId,
    ...(backup && { backup }),
    approval: isForeign ? `${approval}/${backup.clusterId}` : approval,
  };
}

/** As the volume remembers it that the data are restored to: whatever has become of the EtcdBackup since. */
function backupGoneBackTo(seen: Seen): ResolvedBackup | undefined {
  const begun = backupBegun(seen);
  if (begun) return begun;
  const view = namedBackup(seen);
  return view?.kind === 'fit' && newerVersion(seen) === undefined ? view.backup : undefined;
}

/**
 * The name of the EtcdBackup that is to be read for a rollback: until that has begun, because its volume remembers from
 * then on what it goes back to.
 */
export function backupAskedFor(seen: Seen): string | undefined {
  const { backupName, clusterID } = seen.cluster.spec.rollback ?? {};
  if (clusterID === undefined || isRolledBack(clusterID, seen) || backupBegun(seen)) return undefined;
  return backupName;
}

/** Of a rollback to the EtcdBackup that the spec names, which has begun. */
function backupBegun({ cluster, slots }: Seen): ResolvedBackup | undefined {
  const { clusterID, backupName } = cluster.spec.rollback ?? {};
  const records = aspirantsIn(slots).flatMap((slot) => recordOf(slot) ?? []);
  const ours = records.find(
    ({ gaveUp, goesBackTo }) => gaveUp?.at(-1) === clusterID && goesBackTo?.name === backupName,
  );
  return backupName === undefined ? undefined : ours?.goesBackTo;
}

/** By which etcd that EtcdBackup was taken, where that is of a newer minor than the spec's. */
export function newerVersion(seen: Seen): string | undefined {
  return newerThan(seen.cluster.spec.version, namedBackup(seen));
}

/** The EtcdBackup that the spec names for a rollback, as it was read. */
export function namedBackup({ cluster, namedBackups = [] }: Seen): NamedBackup | undefined {
  const { backupName } = cluster.spec.rollback ?? {};
  return namedBackups.find(({ name }) => name === backupName);
}

/** As a person set it; hostile or not, it is only ever compared. */
export function rollbackGiven({ cluster }: Pick<Observation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.rollBack];
}

/** The etcd cluster that may be given up: one that was born, also where none of its volumes exists any more. */
export function clusterToGiveUp({ cluster }: Pick<Observation, 'cluster'>, life: Life): string | undefined {
  if (life.stage === 'born') return life.clusterId;
  return life.stage === 'unclear' && life.reason === 'AllVolumesGone' ? cluster.status?.clusterID : undefined;
}

/** Whether it is over: also when the document is applied again. */
export function isRolledBack(clusterId: string, { slots }: Pick<Observation, 'slots'>): boolean {
  return gaveUpBy(slots).includes(clusterId);
}

/** What a person has approved, of exactly this cluster, and what nothing speaks against. */
export function approvedRollback(seen: Seen, life: Life): WantedRollback | undefined {
  const wanted = wantedRollback(seen);
  if (!wanted || wanted.clusterId !== clusterToGiveUp(seen, life)) return undefined;
  if (rollbackBlockedBy(seen) !== undefined || tooFarAhead(wanted, true, seen)) return undefined;
  return rollbackGiven(seen) === wanted.approval ? wanted : undefined;
}

/** Why no rollback begins, whatever is approved. */
export function rollbackBlockedBy({ cluster, slots }: Pick<Observation, 'cluster' | 'slots'>): string | undefined {
  const recovering = slots.find((slot) => ['recovering', 'recovered'].includes(recordOf(slot)?.state ?? ''));
  if (recovering) return `the cluster is being recovered from ${recovering.name}`;
  return cluster.spec.replicas === 0 ? 'spec.replicas is 0' : undefined;
}

/** Members of the cluster that a rollback makes, while its snapshot is restored. More than one: by late requests. */
export function aspirantsIn(slots: readonly Slot[]): readonly Slot[] {
  return slots.filter((slot) => {
    const record = recordOf(slot);
    return record !== undefined && isAspirant(record);
  });
}
