import type { SnapshotSource } from '../../../../manifests/api/backup-settings.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { wishOf } from '../../../../manifests/render/snapshot-id.ts';
import { isAspirant, type ResolvedBackup } from '../../../../manifests/render/volume-record.ts';
import { type Life, recordOf } from '../life.ts';
import type { NamedBackup, Observation, Slot } from '../observation.ts';
import { gaveUpBy } from '../recovery/outvoted.ts';
import { newerThan } from './fitness.ts';
import { endpointOf, type WantedSnapshot, wantedOf } from './restore.ts';
import { tooFarAhead } from './revisions.ts';

/** A snapshot that the spec asks to go back to, under the same name. */
export interface WantedRollback extends WantedSnapshot {
  /** The etcd cluster that is given up for it. */
  readonly clusterId: string;
  /** The EtcdBackup that the spec names, or that recorded the object: what that is, or was when the rollback began. */
  readonly backup?: ResolvedBackup;
  /** What the data are checked against. Absent: neither the spec nor an EtcdBackup says it. */
  readonly sha256?: string;
  /** What a person sets to approve exactly this. */
  readonly approval: string;
}

/** What an approval ends with that goes without a trial of what is restored. */
const withoutTrial = '/untried';

/** The same approval, of a rollback whose data no etcd has served before the present cluster ends for it. */
export function untried(approval: string): string {
  return `${approval}${withoutTrial}`;
}

export function waivesTrial(approval: string): boolean {
  return approval.endsWith(withoutTrial);
}

/** With or without a trial. */
export function isApprovedBy({ approval }: WantedRollback, given: string | undefined): given is string {
  return given === approval || given === untried(approval);
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
  if (!rollback || newerVersion(seen) !== undefined) return undefined;
  const { clusterID: clusterId } = rollback;
  const backup = backupGoneBackTo(seen);
  const snapshot = backup?.snapshot ?? rollback.snapshot;
  if (!snapshot) return undefined;
  const approval = `${clusterId}/${hashOf({ clusterId, snapshot: wishOf(snapshot) }).slice(0, 12)}`;
  const isForeign = backup !== undefined && backup.clusterId !== clusterId;
  return {
    ...wantedOf(snapshot, rollback.snapshot ? 'spec.rollback.snapshot' : 'spec.rollback.backupName'),
    clusterId,
    ...(backup && { backup }),
    ...(snapshot.sha256 !== undefined && { sha256: snapshot.sha256 }),
    approval: isForeign ? `${approval}/${backup.clusterId}` : approval,
  };
}

/** As the volume remembers it that the data are restored to: whatever has become of the EtcdBackup since. */
function backupGoneBackTo(seen: Seen): ResolvedBackup | undefined {
  const begun = begunFrom(seen);
  if (begun) return begun.backup;
  const { snapshot } = seen.cluster.spec.rollback ?? {};
  const view = namedBackup(seen);
  if (view?.kind !== 'fit') return undefined;
  return snapshot ? { ...view.backup, snapshot: bound(snapshot, view.backup.snapshot) } : view.backup;
}

/** The object and the credentials that the spec names, and what its backup recorded of its data. */
function bound(snapshot: SnapshotSource, { sha256, revision }: SnapshotSource): SnapshotSource {
  return { ...(revision !== undefined && { revision }), ...snapshot, ...(sha256 !== undefined && { sha256 }) };
}

/**
 * The EtcdBackup to look up for a rollback, by its name, or by the object that it recorded where the spec names no
 * digest. Not once the rollback has begun: its volume remembers what it goes back to.
 */
export function backupAskedFor(
  seen: Seen,
): { readonly name: string } | { readonly recorded: SnapshotSource } | undefined {
  const { backupName: name, snapshot: recorded, clusterID } = seen.cluster.spec.rollback ?? {};
  if (clusterID === undefined || isRolledBack(clusterID, seen) || begunFrom(seen)) return undefined;
  if (name !== undefined) return { name };
  return recorded && recorded.sha256 === undefined ? { recorded } : undefined;
}

/** Of the rollback that the spec asks for, which has begun: what its volume remembers, if anything. */
function begunFrom({ cluster, slots }: Seen): { readonly backup: ResolvedBackup | undefined } | undefined {
  const { clusterID, backupName, snapshot } = cluster.spec.rollback ?? {};
  const begun = aspirantsIn(slots)
    .flatMap((slot) => recordOf(slot) ?? [])
    .find(({ gaveUp, goesBackTo, recovery }) => {
      if (gaveUp?.at(-1) !== clusterID) return false;
      if (!snapshot) return goesBackTo !== undefined && goesBackTo.name === backupName;
      const wish = goesBackTo ? bound(snapshot, goesBackTo.snapshot) : snapshot;
      return wishOf(wish) === (goesBackTo ? wishOf(goesBackTo.snapshot) : recovery?.id);
    });
  return begun && { backup: begun.goesBackTo };
}

/** By which etcd that EtcdBackup was taken, where that is of a newer minor than the spec's. */
export function newerVersion(seen: Seen): string | undefined {
  if (begunFrom(seen)) return undefined;
  return newerThan(seen.cluster.spec.version, namedBackup(seen));
}

/** The EtcdBackup that the spec names for a rollback, or that recorded the object which it names, as it was read. */
export function namedBackup({ cluster, namedBackups = [] }: Seen): NamedBackup | undefined {
  const { backupName, snapshot } = cluster.spec.rollback ?? {};
  return namedBackups.find((view) => (snapshot ? recordsIt(view, snapshot) : view.name === backupName));
}

/** Whether it is what a snapshot without a digest needs: the same object in the same store. */
export function recordsIt(view: NamedBackup, snapshot: SnapshotSource): boolean {
  if (snapshot.sha256 !== undefined || view.kind !== 'fit') return false;
  const { object } = view.backup.snapshot;
  return object === snapshot.object && endpointOf(view.backup.snapshot) === endpointOf(snapshot);
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

/** What a person has approved, of exactly this cluster, and what nothing speaks against. The approval is as given. */
export function approvedRollback(seen: Seen, life: Life): WantedRollback | undefined {
  const wanted = wantedRollback(seen);
  if (!wanted || wanted.clusterId !== clusterToGiveUp(seen, life)) return undefined;
  if (rollbackBlockedBy(seen) !== undefined || tooFarAhead(wanted, true, seen)) return undefined;
  const given = rollbackGiven(seen);
  return isApprovedBy(wanted, given) ? { ...wanted, approval: given } : undefined;
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
