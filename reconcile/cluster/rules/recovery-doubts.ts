import { annotations } from '../../../manifests/build/names.ts';
import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { Situation } from '../decide.ts';
import { type Decision, refuse } from '../decision.ts';
import { hasDeparted, recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { outvotedBy } from '../outvoted.ts';
import { isBeingRecovered } from './await-quorum.ts';

/** What the volume that is being recovered says, and the rest of the cluster contradicts: a person must say what is to be. */
export function problemOf(
  chosen: Slot,
  recovery: Recovery | undefined,
  { slots, life }: Situation,
): Decision | undefined {
  const { name, volume } = chosen;
  if (!recovery) {
    return refuse(
      'VolumeRecordUnreadable',
      `volume ${name} is being recovered, and does not say by which approval`,
      `restore annotation ${annotations.recovery} of PersistentVolumeClaim ${name}`,
    );
  }
  const other = slots.find((slot) => isBeingRecovered(slot) && slot.name !== name);
  if (other) {
    return refuse(
      'TwoRecoveries',
      `${name} and ${other.name} both say that the cluster goes on from them`,
      `set annotation ${annotations.volumeState} of one of the two PersistentVolumeClaims to superseded`,
    );
  }
  if (volume && (volume.leaving || volume.lost)) {
    return refuse(
      'RecoveryVolumeLost',
      `volume ${name}, which the cluster was to go on from, is ${volume.leaving ? 'being deleted' : 'lost'}`,
      `bring its disk back (PersistentVolumeClaim ${name} with its annotations, bound to the same PersistentVolume); or, to go on from another one that holds data, delete PersistentVolumeClaim ${name} and set annotation ${annotations.volumeState} of the other one to sealed`,
    );
  }
  const strays = life.stage === 'born' ? life.strays : [];
  const since = slots.find((slot) => slot !== chosen && !strays.includes(slot) && hasJoinedSince(slot, chosen));
  if (since && recordOf(chosen)?.state === 'recovering') {
    return refuse(
      'RecoveryOutdated',
      `volume ${name} says that the cluster is to go on from it alone, and ${since.name} has become a member since, as after a backup was restored`,
      `if that recovery is over, set annotation ${annotations.volumeState} of PersistentVolumeClaim ${name} to sealed`,
    );
  }
  return undefined;
}

/**
 * Between the approval and the stop those that were given up have come back, and take writes that the chosen one may not have: a
 * person must say which of the two is to be. Nobody has been stopped yet.
 */
export function quorumReturned(
  { name, statefulSet }: Slot,
  { attempt }: Recovery,
  situation: Situation,
): Decision | undefined {
  const { membership, cluster } = situation;
  if (membership.kind === 'unknown' || attempt > 0 || !statefulSet) return undefined;
  return refuse(
    'QuorumReturned',
    `a quorum of ${cluster.metadata.name} answers again, after its recovery from ${name} was approved and before anybody was stopped`,
    `to call the recovery off, remove annotation ${annotations.outvoted} of PersistentVolumeClaim ${name}, and set ${annotations.volumeState} of every claim whose member is on "etcdctl member list" to sealed; to go on with it, delete the StatefulSets of the others`,
  );
}

/**
 * Whoever was a member when the recovery began is known by its ID. What this one has is not among what was given up, and nobody has
 * approved that it is.
 */
function hasJoinedSince(slot: Slot, chosen: Slot): boolean {
  const record = recordOf(slot);
  if (record?.memberId === undefined || hasDeparted(slot) || isBeingRecovered(slot)) return false;
  return !outvotedBy([chosen]).some(({ memberId }) => memberId === record.memberId);
}
