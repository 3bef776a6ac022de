import { recordOf } from '../life.ts';
import { votersOf } from '../membership/voters.ts';
import type { Slot } from '../observation.ts';
import { endedByItself, isCrashing } from '../pods/endings.ts';
import type { Situation } from '../situation.ts';
import { isLongUnmountable, isUnmountable } from '../volumes/unmountable.ts';
import { whyGone } from '../volumes/volume-gone.ts';
import { hasOutlasted } from './grace.ts';
import { differsFromPeers, verdictOf } from './hashes.ts';
import { ailmentOf, goesWithItsVolume, memberOf } from './health.ts';

/**
 * Why a member that is down needs a replacement, in words; `undefined` where it may recover by itself, or where a new
 * member would fare no better: an image that cannot be pulled, no room on any node, a configuration that breaks every
 * member, a memory limit that is too low (`endings.ts` tells these apart by codes).
 */
export function needOfReplacement(slot: Slot, situation: Situation): string | undefined {
  const { name, pod, volume } = slot;
  const ailment = ailmentOf(slot, situation);
  switch (ailment?.reason) {
    case 'VolumeMissing':
    case 'VolumeLost':
    case 'MemberCorrupt':
    case 'AnotherDisk':
      return ailment.message;
    case 'VolumeLeaving':
      // A member that serves goes on until its replacement votes (`outliveVolume`).
      return goesWithItsVolume(slot, situation) && situation.effective.replicas > 0 ? undefined : ailment.message;
    case 'PodLeaving':
    case 'OldObjectsLeaving':
      return hasOutlasted(slot, situation) ? `the pod of ${name} does not end, as on a node that is dead` : undefined;
    case 'PodUnscheduled': {
      const gone = volume && whyGone(volume);
      return gone && `the pod of ${name} finds no node: ${gone}`;
    }
    case 'VolumeNotAttached':
    case 'VolumeNotMounted':
      if (volume && whyGone(volume)) return `the volume of ${name} cannot come back: ${whyGone(volume)}`;
      return isUnmountable(slot, situation)
        ? `${ailment.message}, and nothing else that it needs is missing`
        : undefined;
    case 'MemberKeepsExiting':
      if (!pod || !isCrashing(pod.container) || !endedByItself(pod.container)) return undefined;
      if (!othersRunOnTheSame(slot, situation)) return undefined;
      return !differsFromPeers(slot) || othersAgree(slot, situation) ? ailment.message : undefined;
    default:
      return undefined;
  }
}

/** Where events are the proof of the need, they themselves must be as old as the member's grace period. */
export function hasLasted(slot: Slot, situation: Situation): boolean {
  const isReported = slot.volume && !whyGone(slot.volume) && isUnmountable(slot, situation);
  return !isReported || isLongUnmountable(slot, situation);
}

/** Its ID is no longer on the list, and no volume says that etcd-ratchet removed it: it can never be a member again. */
export function wasRemovedByOthers(slot: Slot, { membership }: Situation): boolean {
  const record = recordOf(slot);
  if (membership.kind === 'unknown' || record?.state !== 'sealed' || !slot.peer?.current) return false;
  return record.clusterId === membership.clusterId && !membership.members.some(({ id }) => id === record.memberId);
}

/** Then the others are not wrong: every other voter has the data of the majority. */
function othersAgree(slot: Slot, situation: Situation): boolean {
  const { membership } = situation;
  const verdict = verdictOf(situation);
  if (membership.kind === 'unknown' || verdict.kind !== 'majority') return false;
  const own = memberOf(slot, membership.members)?.id;
  return votersOf(membership.members).every(({ id }) => id === own || verdict.trusted.has(id));
}

/**
 * What etcd 3.5 to 3.7 log about corrupt data. Not what they log where a file cannot be opened at all: that may be a
 * mount, a disk or a right. These are sentences, because etcd exits with 1 or 2 whatever the cause: it gives no code.
 * They only count beside an exit of etcd's own (`endedByItself`); do not extend the list.
 */
const spoiltData = /inconsistency with peers|crc mismatch|invalid database|Page expected to be/;

/**
 * Then the cause is not the configuration but the member's own data, volume or node. A member that restarts for another
 * configuration, and then finds its data corrupt, is the first on that configuration: for it the same version is
 * enough.
 */
function othersRunOnTheSame(slot: Slot, situation: Situation): boolean {
  const isSpoilt = spoiltData.test(slot.pod?.container.lastWords ?? '');
  return situation.slots.some(
    (other) =>
      other !== slot &&
      (other.statefulSet?.inputsHash === slot.statefulSet?.inputsHash ||
        (isSpoilt && other.pod?.version !== undefined && other.pod.version === slot.pod?.version)) &&
      ailmentOf(other, situation) === undefined,
  );
}
