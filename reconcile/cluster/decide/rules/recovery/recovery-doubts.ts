import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../../manifests/render/names.ts';
import type { Recovery } from '../../../../../manifests/render/volume-record.ts';
import { type Decision, refuse } from '../../../know/decision.ts';
import { hasDeparted, isBeingRecovered, recordOf } from '../../../know/life.ts';
import type { Slot, VolumeView } from '../../../know/observation.ts';
import { outvotedBy } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';

/** The volume that is being recovered and the rest of the cluster contradict each other: a person must decide. */
export function problemOf(
  chosen: Slot,
  recovery: Recovery | undefined,
  { slots, life }: Situation,
): Decision | undefined {
  const { name, volume } = chosen;
  if (!recovery) {
    return refuse(
      'VolumeRecordUnreadable',
      `volume ${name} is being recovered, and does not name its approval`,
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
  if (volume && (volume.leaving || volume.lost)) return volumeLost(name, volume);
  const strays = life.stage === 'born' ? life.strays : [];
  const since = slots.find((slot) => slot !== chosen && !strays.includes(slot) && hasJoinedSince(slot, chosen));
  if (since && recordOf(chosen)?.state === 'recovering') {
    return refuse(
      'RecoveryOutdated',
      `volume ${name} says that the cluster goes on from it alone, and ${since.name} has become a member since, for example because a backup was restored`,
      `if that recovery is over, set annotation ${annotations.volumeState} of PersistentVolumeClaim ${name} to sealed`,
    );
  }
  return undefined;
}

/** A PVC that is being deleted is there as long as its pod runs, and so is its disk. */
function keeping({ leaving, disk }: VolumeView): string {
  return leaving && disk
    ? `before its pod ends, keep its disk: kubectl patch pv ${disk.pv} --type=merge -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'; then `
    : '';
}

/** The new life is there, and no client was let in yet: what it went on from lies beside it on the same disk. */
export function recoveredLost({ name }: Slot, volume: VolumeView, what: string): Decision {
  return refuse(
    'RecoveryVolumeLost',
    `volume ${name}, on which the recovery has begun a new life, is ${what}`,
    `${keeping(volume)}restore its disk (PersistentVolumeClaim ${name} with its annotations, bound to the same PersistentVolume)${volume.leaving ? '; once it is gone, what the volumes hold that the recovery left behind is offered' : ''}`,
  );
}

function volumeLost(name: string, volume: VolumeView): Decision {
  const { leaving } = volume;
  const keep = keeping(volume);
  return refuse(
    'RecoveryVolumeLost',
    `volume ${name}, which the cluster was to go on from, is ${leaving ? 'being deleted' : 'lost'}`,
    `${keep}restore its disk (PersistentVolumeClaim ${name} with its annotations, bound to the same PersistentVolume); or, to go on from another one that holds data, hand its annotations ${annotations.recovery}, ${annotations.lastSeenOn} and ${annotations.outvoted} over, as the runbook says, and delete PersistentVolumeClaim ${name} and StatefulSet ${name}`,
  );
}

/**
 * Between the approval and the stop, members that were given up returned, and accept writes that the chosen one may not
 * have: a person must decide between the two. No member has been stopped yet.
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
    `a quorum of ${cluster.metadata.name} answers again, after its recovery from ${name} was approved and before any member was stopped`,
    `to call the recovery off, set annotation ${annotations.volumeState} to sealed on the PVC of every other member on "etcdctl member list", and last: ${kubectl(cluster.metadata, `annotate --overwrite pvc ${name} ${annotations.volumeState}=sealed ${annotations.outvoted}-`)}; to go on with it, delete the StatefulSets of the others`,
  );
}

/**
 * Members at the begin of the recovery are known by their IDs. The data of any other member were not given up, and no
 * person has approved that they are.
 */
function hasJoinedSince(slot: Slot, chosen: Slot): boolean {
  const record = recordOf(slot);
  if (record?.memberId === undefined || hasDeparted(slot) || isBeingRecovered(slot)) return false;
  return !outvotedBy([chosen]).some(({ memberId }) => memberId === record.memberId);
}
