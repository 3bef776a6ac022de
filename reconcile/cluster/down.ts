import { parseDuration } from '../../manifests/api/duration.ts';
import { healingDefaults } from '../../manifests/api/healing-defaults.ts';
import type { Situation } from './decide.ts';
import { endedByItself, isCrashing } from './endings.ts';
import { differsFromPeers, verdictOf } from './hashes.ts';
import { ailmentOf, goesWithItsVolume, memberOf } from './health.ts';
import { recordOf } from './life.ts';
import type { Slot } from './observation.ts';
import { isLongUnmountable, isUnmountable } from './unmountable.ts';
import { whyGone } from './volume-gone.ts';
import { votersOf } from './voters.ts';

/** `spec.healing`, in milliseconds. */
export function graceOf({ cluster }: Pick<Situation, 'cluster'>): { readonly pod: number; readonly member: number } {
  const { podGracePeriod, memberGracePeriod } = { ...healingDefaults, ...cluster.spec.healing };
  return { pod: parseDuration(podGracePeriod), member: parseDuration(memberGracePeriod) };
}

/**
 * Since when a member has been seen unhealthy. Told by the status, which may vanish: then its time begins anew, and it is healed
 * later. What is done about it rests on what is seen now.
 */
export function downSince({ name }: Slot, { cluster }: Pick<Situation, 'cluster'>): Date | undefined {
  const since = cluster.status?.members?.find((member) => member.name === name)?.unhealthySince;
  return since === undefined ? undefined : new Date(since);
}

/** For how long, in milliseconds. */
export function downFor(slot: Slot, situation: Pick<Situation, 'cluster' | 'at'>): number {
  const since = downSince(slot, situation);
  return since === undefined ? 0 : Math.max(0, situation.at.getTime() - since.getTime());
}

/**
 * Its pod was told to end, should have, and has not for `podGracePeriod`. One that was only just told ends like any other: however long its
 * member was down before, as on a node that was full, that says nothing about its node.
 */
export function hasOutlasted({ pod }: Slot, situation: Pick<Situation, 'at' | 'cluster'>): boolean {
  if (!pod?.leaving) return false;
  return pod.endsBy === undefined || situation.at.getTime() - pod.endsBy.getTime() >= graceOf(situation).pod;
}

/**
 * Why a member that is down needs a new one in its place, in words; `undefined` where it may come back by itself, or where a new one
 * would fare no better (an image that can't be pulled, no room on any node, a configuration that breaks whoever gets it, a memory limit
 * that is too low: `endings.ts` tells by codes).
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
      // One that serves goes on until another one votes in its place (`outliveVolume`).
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
      if (volume && whyGone(volume)) return `the volume of ${name} can't come back: ${whyGone(volume)}`;
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

/** Where the need is told by what is reported, that must be the grace of a member old by itself. */
export function hasLasted(slot: Slot, situation: Situation): boolean {
  const isReported = slot.volume && !whyGone(slot.volume) && isUnmountable(slot, situation);
  return !isReported || isLongUnmountable(slot, situation);
}

/** Its ID is not on the list any more, and no volume says that this was us: it will never be a member again. */
export function wasRemovedByOthers(slot: Slot, { membership }: Situation): boolean {
  const record = recordOf(slot);
  if (membership.kind === 'unknown' || record?.state !== 'sealed' || !slot.peer?.current) return false;
  return record.clusterId === membership.clusterId && !membership.members.some(({ id }) => id === record.memberId);
}

/** Then it is not they who are wrong: every other voter holds what most of all voters do. */
function othersAgree(slot: Slot, situation: Situation): boolean {
  const { membership } = situation;
  const verdict = verdictOf(situation);
  if (membership.kind === 'unknown' || verdict.kind !== 'majority') return false;
  const own = memberOf(slot, membership.members)?.id;
  return votersOf(membership.members).every(({ id }) => id === own || verdict.trusted.has(id));
}

/**
 * What etcd 3.5 to 3.7 say of data that are not what they were. Not what they say where a file can't be opened at all: that may as
 * well be a mount, a disk or a right. Sentences, because etcd exits with 1 or 2 whatever the cause: it gives no code for this. They only
 * ever count beside an exit of etcd's own (`endedByItself`); the list is not to be widened.
 */
const spoiltData = /inconsistency with peers|crc mismatch|invalid database|Page expected to be/;

/**
 * Then it is not the configuration that it can't start on, but what is its own: data, volume or node. A member that is started
 * anew for another configuration, and then finds its data spoilt, is the first on that one: for it the same version is enough.
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
