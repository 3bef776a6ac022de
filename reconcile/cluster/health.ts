import type { ListedMember } from '../etcd.ts';
import { type Ailment, lasting, passing } from './ailment.ts';
import { endedWhole, endingBeside, endingOf } from './endings.ts';
import { isConvicted } from './hashes.ts';
import { heldUpBy, isBeforeItsStart } from './held-up.ts';
import { isOnlyLate } from './late-volumes.ts';
import { foreignCure, foreignOf, isHeldBack, leftoverIn } from './leftovers.ts';
import { hasDeparted, recordOf } from './life.ts';
import type { Observation, PodView, Slot } from './observation.ts';
import { isOnOtherDisk, otherDiskInWords, sealedDiskInWords } from './sealed-disk.ts';
import { startupInWords } from './startup.ts';

/** What health is told from. */
export type Seen = Pick<Observation, 'membership' | 'slots' | 'hashes'>;

/** Something else is wrong with it than that its pod is merely old: that one serves, and leads, as well as any. */
export function isIll(slot: Slot, seen: Seen): boolean {
  const ailment = ailmentOf(slot, seen);
  return ailment !== undefined && ailment.reason !== 'PodOutdated';
}

/**
 * It is seen to be well in everything but the age of its pod. An old pod serves as well as any, and is not rolled while another member is
 * down: a rule that waited for that before it heals would wait for ever.
 */
export function serves(slot: Slot, seen: Seen): boolean {
  const { pod } = slot;
  return ailmentOf(pod ? { ...slot, pod: { ...pod, upToDate: 'yes' } } : slot, seen) === undefined;
}

/** All that is wrong with it is that its claim is being deleted: it serves, and has its data, until its pod ends. */
export function goesWithItsVolume(slot: Slot, seen: Seen): boolean {
  return slot.volume?.leaving === true && serves({ ...slot, volume: { ...slot.volume, leaving: false } }, seen);
}

/** Entries of raft's log that a member may lag behind and still count as in sync; a busy cluster is never at zero. */
const maxLag = 5000n;

/** What is wrong with one member, the deepest cause first; `undefined`: it is healthy. */
export function ailmentOf(slot: Slot, seen: Seen): Ailment | undefined {
  const { membership, slots } = seen;
  if (hasDeparted(slot) || isOnlyLate(slot)) return undefined;
  // Without a quorum it does not leave, and is needed.
  if (recordOf(slot)?.state === 'releasing' && membership.kind === 'known')
    return passing('MemberLeaving', `${slot.name} is leaving the cluster`);
  const inKubernetes = podAilment(slot);
  if (inKubernetes) return inKubernetes;
  const { name, endpoint } = slot;
  if (endpoint.kind === 'unknown' && endpoint.tls !== undefined) {
    return passing(endpoint.tls, `etcd on ${name} is there, and we and it do not come together: ${endpoint.cause}`);
  }
  if (endpoint.kind === 'unknown') {
    return passing('EndpointSilent', `etcd on ${name} does not answer: ${endpoint.cause}`);
  }
  if (membership.kind === 'unknown') return passing('NoQuorum', `${name} runs, but no quorum answers`);

  const member = memberOf(slot, membership.members);
  if (!member) {
    return lasting(
      'NotAMember',
      `${name} runs, but the member list does not have it`,
      `look at "etcdctl member list" and at the events of ${name}: somebody removed the member`,
    );
  }
  if (isConvicted(member.id, seen)) {
    return lasting(
      'MemberCorrupt',
      `${name} holds other data than most members agree on`,
      'it is replaced once a quorum of the others is healthy: see what else is wrong',
    );
  }
  if (member.name === '') return passing('MemberStarting', `${name} has not yet joined`);
  const leader = leaderOf(slot, slots);
  if (endpoint.status.leader === '0' || leader?.endpoint.kind !== 'known') {
    return passing('NoLeader', `${name} knows no leader that answers`);
  }
  if (leader.endpoint.status.raftIndex - endpoint.status.raftAppliedIndex > maxLag) {
    return passing('MemberLagging', `${name} is catching up with the leader`);
  }
  return undefined;
}

/**
 * The member that a slot stands for: by the ID recorded or answered; before there is one by its peer URL, because a
 * member that has not yet started has no name in the list.
 */
export function memberOf(slot: Slot, members: readonly ListedMember[]): ListedMember | undefined {
  const record = recordOf(slot);
  const id = record?.memberId ?? (slot.endpoint.kind === 'known' ? slot.endpoint.status.memberId : undefined);
  if (id !== undefined) return members.find((member) => member.id === id);
  const url = urlOf(slot);
  return members.find(({ peerURLs }) => url !== undefined && peerURLs.includes(url));
}

/** Where its peers reach it, as it was recorded. */
export function urlOf(slot: Slot): string | undefined {
  const recorded = recordOf(slot)?.initialCluster ?? slot.peer?.bootstrap.initialCluster;
  return recorded?.find(({ name }) => name === slot.name)?.url;
}

/** As etcd itself judges it when a learner is to be promoted: nine tenths of the leader's log, and for us no more than a little short. */
export function isInSync(slot: Slot, slots: readonly Slot[]): boolean {
  const leader = leaderOf(slot, slots);
  if (slot.endpoint.kind === 'unknown' || leader?.endpoint.kind !== 'known') return false;
  const applied = slot.endpoint.status.raftAppliedIndex;
  const { raftIndex } = leader.endpoint.status;
  return raftIndex - applied <= maxLag && applied * 10n >= raftIndex * 9n;
}

function leaderOf({ endpoint }: Slot, slots: readonly Slot[]): Slot | undefined {
  if (endpoint.kind === 'unknown') return undefined;
  return slots.find(
    (other) => other.endpoint.kind === 'known' && other.endpoint.status.memberId === endpoint.status.leader,
  );
}

function podAilment(slot: Slot): Ailment | undefined {
  const { name, volume, statefulSet, pod } = slot;
  const held = !volume?.lost && !volume?.leaving && heldBackBy(slot);
  if (held) return held;
  if (!volume) {
    return lasting(
      'VolumeMissing',
      `the volume of ${name} is gone`,
      `bring the disk itself back: PersistentVolumeClaim ${name}, with its annotations, bound to the PersistentVolume that it had; on an older copy the member is not started`,
    );
  }
  if (volume.lost)
    return lasting(
      'VolumeLost',
      `PersistentVolumeClaim ${name} has lost its PersistentVolume`,
      'restore its PersistentVolume, for the same disk: on an older copy the member is not started',
    );
  if (volume.leaving)
    return lasting('VolumeLeaving', `volume ${name} is being deleted and goes with its pod`, `back ${name} up now`);
  if (isOnOtherDisk(slot)) {
    const cure = `bring the disk itself back: ${sealedDiskInWords(slot)}; with a healthy quorum of the others it is replaced, and this claim kept`;
    return lasting('AnotherDisk', otherDiskInWords(slot), cure);
  }
  if (!statefulSet) return passing('NotStarted', `${name} is not started yet`);
  if (!pod)
    return (
      heldUpBy(slot, 'statefulSet') ??
      overdue(
        'PodMissing',
        `the pod of ${name} is being made`,
        `kubectl describe statefulset ${name} says why it is not`,
      )
    );
  if (pod.leaving) return passing('PodLeaving', `the pod of ${name} is terminating`);
  if (pod.unscheduled !== undefined) {
    return (
      heldUpBy(slot, 'volume') ??
      passing(
        'PodUnscheduled',
        `the pod of ${name} finds no node (${pod.unscheduled}); kubectl describe pod ${name}-0 says why`,
      )
    );
  }
  return containerAilment(slot, pod);
}

/** What bears its name and is not its own. The others go on without it. */
function heldBackBy(slot: Slot): Ailment | undefined {
  if (!isHeldBack(slot)) return undefined;
  const foreign = foreignOf(slot);
  if (foreign === undefined) return passing('OldObjectsLeaving', leftoverIn(slot));
  return lasting(
    'NameTaken',
    `there is ${foreign} with the labels of this cluster, and no resource of etcd-ratchet owns it: it is left alone`,
    foreignCure,
  );
}

const imageReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]);
const configReasons: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'StartError',
]);

function containerAilment(slot: Slot, pod: PodView): Ailment | undefined {
  const { name } = slot;
  const { ready, upToDate, container } = pod;
  const over = endedWhole(slot, pod);
  if (over) return over;
  const held = isBeforeItsStart(slot) ? heldUpBy(slot, 'pod') : undefined;
  if (held) return held;
  if (imageReasons.has(container.reason)) {
    return lasting(
      'ImageUnavailable',
      `the image of ${name} cannot be pulled (${container.reason})`,
      "correct spec.version or spec.image, or make the image available; kubectl describe pod shows the registry's answer",
    );
  }
  if (configReasons.has(container.reason)) {
    return lasting(
      'ContainerCannotStart',
      `the container of ${name} cannot start (${container.reason})`,
      `kubectl describe pod ${name}-0 says why; correct spec.podTemplate or spec.resources`,
    );
  }
  const ended = endingOf(slot, pod);
  if (ended) return ended;
  const beside = endingBeside(slot, pod);
  if (beside) return beside;
  if (!ready && container.reason === 'PodInitializing') {
    return overdue(
      'PodInitializing',
      `the init containers of ${name} have not ended`,
      `kubectl describe pod ${name}-0 shows which one it is; correct spec.podTemplate, or what that container waits for`,
    );
  }
  if (!ready && !isShut(slot)) {
    return overdue(
      'MemberStarting',
      `${name} is starting${startupInWords(container)}`,
      `kubectl describe pod ${name}-0 and kubectl logs ${name}-0 say how far it has come; a large database may need a startupProbe with more time (spec.podTemplate)`,
    );
  }
  if (upToDate === 'no') {
    return passing(
      'PodOutdated',
      `the pod of ${name} runs on an older template than its StatefulSet has; it goes when all others are healthy`,
    );
  }
  return undefined;
}

/** etcd calls no member ready while CORRUPT is raised, whosever data are wrong. */
function isShut({ endpoint }: Slot): boolean {
  return endpoint.kind === 'known' && endpoint.status.errors.some((error) => error.includes('CORRUPT'));
}

/** Whether the member can't run on the configuration it has: the case in which nobody else should be given the same. */
export function isDownOnItsConfiguration({ pod }: Slot): boolean {
  if (!pod || pod.leaving) return false;
  const { state, reason } = pod.container;
  return (
    state === 'terminated' || reason === 'CrashLoopBackOff' || imageReasons.has(reason) || configReasons.has(reason)
  );
}

/** Passing, and a person's when it has lasted for too long. */
function overdue(reason: string, message: string, cure: string): Ailment {
  return { reason, message, passing: true, cure };
}
