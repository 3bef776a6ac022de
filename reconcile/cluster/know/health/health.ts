import { kubectl } from '../../../../manifests/render/kubectl.ts';
import type { EndpointStatus, ListedMember } from '../../../interfaces/etcd.ts';
import { statusesOf } from '../adoption/inherited.ts';
import { driftInWords } from '../drift.ts';
import { foreignCure, foreignOf, isBlockedByLeftovers, leftoverIn } from '../leftovers.ts';
import { hasDeparted, isUnreadable, recordOf, unreadableInWords } from '../life.ts';
import type { Observation, PodView, Slot } from '../observation.ts';
import { blockedBy, isBeforeItsStart } from '../pods/blocked.ts';
import { endedWhole, endingBeside, endingOf } from '../pods/endings.ts';
import { startupInWords } from '../pods/startup.ts';
import { isOnlyLate } from '../volumes/late-volumes.ts';
import { isOnOtherDisk, otherDiskInWords, sealedDiskInWords } from '../volumes/sealed-disk.ts';
import { type Ailment, lasting, passing } from './ailment.ts';
import { isConvicted } from './hashes.ts';

/** What health is judged from. */
export type Seen = Pick<Observation, 'membership' | 'slots' | 'hashes' | 'inherited'>;

/** Something else is wrong with it than an outdated pod: that one serves, and leads, as well as any. */
export function isIll(slot: Slot, seen: Seen): boolean {
  const ailment = ailmentBeside(slot, seen);
  return ailment !== undefined && ailment.reason !== 'PodOutdated';
}

/**
 * It is healthy in everything but the age of its pod. An old pod serves as well as any, and is not rolled while another
 * member is down: a rule that waited for the roll before it heals would wait for ever.
 */
export function serves(slot: Slot, seen: Seen): boolean {
  const { pod } = slot;
  return ailmentBeside(pod ? { ...slot, pod: { ...pod, upToDate: 'yes' } } : slot, seen) === undefined;
}

/** Its only ailment is that its PVC is being deleted: it serves, and has its data, until its pod ends. */
export function goesWithItsVolume(slot: Slot, seen: Seen): boolean {
  return slot.volume?.leaving === true && serves({ ...slot, volume: { ...slot.volume, leaving: false } }, seen);
}

/** It was asked directly, and follows a leader. */
export function hearsLeader({ endpoint }: Pick<Slot, 'endpoint'>): boolean {
  return endpoint.kind === 'known' && endpoint.status.leader !== '0';
}

/** Entries of raft's log that a member may lag and still count as in sync; a busy cluster is never at zero. */
export const maxLag = 5000n;

/** They are received within a moment. */
const fewEntries = 100n;

/** The ailment of one member, the deepest cause first; `undefined`: it is healthy. */
export function ailmentOf(slot: Slot, seen: Seen): Ailment | undefined {
  const found = ailmentBeside(slot, seen);
  if (!isUnreadable(slot)) return found;
  const { message, cure } = unreadableInWords(slot);
  return lasting('VolumeRecordUnreadable', found ? `${message}; and ${found.message}` : message, cure);
}

/** All but unreadable annotations of its volume: it may serve all the same. */
function ailmentBeside(slot: Slot, seen: Seen): Ailment | undefined {
  const { membership } = seen;
  if (hasDeparted(slot) || isOnlyLate(slot)) return undefined;
  // Without a quorum it is not removed, and is needed.
  if (recordOf(slot)?.state === 'releasing' && membership.kind === 'known')
    return passing('MemberLeaving', `${slot.name} is being removed from the cluster`, '');
  const { name, endpoint } = slot;
  const inKubernetes = podAilment(slot);
  const hearsNone = membership.kind === 'unknown' && endpoint.kind === 'known' && endpoint.status.leader === '0';
  // It is not Ready because no quorum is there, however long it is given to start.
  if (inKubernetes && !(inKubernetes.reason === 'MemberStarting' && hearsNone)) return inKubernetes;
  if (endpoint.kind === 'unknown' && endpoint.tls !== undefined) {
    return passing(
      endpoint.tls,
      `etcd on ${name} is reachable, but the TLS handshake with it fails: ${endpoint.cause}`,
    );
  }
  if (endpoint.kind === 'unknown') {
    return passing('EndpointSilent', `etcd on ${name} does not answer: ${endpoint.cause}`);
  }
  if (membership.kind === 'unknown') return passing('NoQuorum', `${name} runs, but no quorum answers`);

  const member = memberOf(slot, membership.members);
  if (!member) {
    return lasting(
      'NotAMember',
      `${name} runs, but is not on the member list`,
      `look at "etcdctl member list" and at the events of ${name}: a person or a tool removed the member`,
    );
  }
  if (isConvicted(member.id, seen)) {
    return lasting(
      'MemberCorrupt',
      `the data of ${name} differ from those of the majority`,
      'it is replaced once a quorum of the others is healthy: see what else is wrong',
    );
  }
  if (member.name === '') return passing('MemberStarting', `${name} has not joined yet`);
  const leader = leaderOf(slot, seen);
  if (endpoint.status.leader === '0' || !leader) {
    return passing('NoLeader', `${name} knows no leader that answers`);
  }
  if (leader.raftIndex - endpoint.status.raftAppliedIndex > maxLag) {
    return passing('MemberLagging', `${name} is catching up with the leader`);
  }
  return undefined;
}

/**
 * The member of a slot: by the recorded or answered ID; before there is one by its peer URL, because a member that has
 * not started yet has no name on the list.
 */
export function memberOf(slot: Slot, members: readonly ListedMember[]): ListedMember | undefined {
  const record = recordOf(slot);
  const id = record?.memberId ?? (slot.endpoint.kind === 'known' ? slot.endpoint.status.memberId : undefined);
  if (id !== undefined) return members.find((member) => member.id === id);
  const url = urlOf(slot);
  if (url !== undefined) return members.find(({ peerURLs }) => peerURLs.includes(url));
  // Only so that it is left alone: it is never reported as a member without a peer.
  return isUnreadable(slot) ? members.find(({ name }) => name === slot.name) : undefined;
}

/** Where its peers reach it, as it was recorded. */
export function urlOf(slot: Slot): string | undefined {
  const recorded = recordOf(slot)?.initialCluster ?? slot.peer?.bootstrap.initialCluster;
  return recorded?.find(({ name }) => name === slot.name)?.url;
}

/**
 * As etcd itself judges a learner before its promotion (nine tenths of the leader's log), and at most `maxLag` behind.
 */
export function isInSync(slot: Slot, seen: Pick<Seen, 'slots' | 'inherited'>): boolean {
  const leader = leaderOf(slot, seen);
  if (slot.endpoint.kind === 'unknown' || !leader) return false;
  const applied = slot.endpoint.status.raftAppliedIndex;
  const { raftIndex } = leader;
  return raftIndex - applied <= maxLag && applied * 10n >= raftIndex * 9n;
}

/**
 * It lacks so little that etcd will promote it within a moment: of a short log, one entry that was made between two
 * answers is more than a tenth. So few entries are never a large database.
 */
export function isNearlyInSync(slot: Slot, seen: Pick<Seen, 'slots' | 'inherited'>): boolean {
  const leader = leaderOf(slot, seen);
  if (slot.endpoint.kind === 'unknown' || !leader) return false;
  return isInSync(slot, seen) || leader.raftIndex - slot.endpoint.status.raftAppliedIndex <= fewEntries;
}

/** What the leader that it follows says of itself; in an adoption that may be a member without a place. */
function leaderOf({ endpoint }: Slot, seen: Pick<Seen, 'slots' | 'inherited'>): EndpointStatus | undefined {
  if (endpoint.kind === 'unknown') return undefined;
  const ours = seen.slots.flatMap((other) => (other.endpoint.kind === 'known' ? [other.endpoint.status] : []));
  return [...ours, ...statusesOf(seen)].find(({ memberId }) => memberId === endpoint.status.leader);
}

function podAilment(slot: Slot): Ailment | undefined {
  const { name, volume, statefulSet, pod } = slot;
  // On another disk it votes with lost writes: its replacement comes before the question of its objects' owner.
  const isVoting = isOnOtherDisk(slot) && slot.endpoint.kind === 'known';
  const held = !volume?.lost && !volume?.leaving && !isVoting && heldBackBy(slot);
  if (held) return held;
  if (!volume) {
    return lasting(
      'VolumeMissing',
      `the volume of ${name} is gone`,
      `restore the disk itself: PersistentVolumeClaim ${name}, with its annotations, bound to the PersistentVolume that it had; the member does not start on an older copy`,
    );
  }
  if (volume.lost)
    return lasting(
      'VolumeLost',
      `PersistentVolumeClaim ${name} has lost its PersistentVolume`,
      'restore its PersistentVolume, for the same disk: the member does not start on an older copy',
    );
  if (volume.leaving)
    return lasting(
      'VolumeLeaving',
      `volume ${name} is being deleted and disappears with its pod`,
      `back ${name} up now`,
    );
  if (isOnOtherDisk(slot)) {
    const foreign = foreignOf(slot);
    const first = foreign === undefined ? '' : `delete what a restore made without its owner: ${foreign}; `;
    const cure = `${first}restore the disk itself: ${sealedDiskInWords(slot)}; with a healthy quorum of the others the member is replaced, and this PVC kept`;
    return lasting('AnotherDisk', otherDiskInWords(slot), cure);
  }
  if (!statefulSet) return passing('NotStarted', `${name} has not started yet`);
  if (!pod)
    return (
      blockedBy(slot, 'statefulSet') ??
      passing(
        'PodMissing',
        statefulSet.drift?.kind === 'changed' && statefulSet.drift.replicas === 0
          ? driftInWords(name, statefulSet.drift)
          : `the pod of ${name} is being made`,
        `see why it is not: ${kubectl(slot, `describe statefulset ${name}`)}`,
      )
    );
  if (pod.leaving) return passing('PodLeaving', `the pod of ${name} is terminating`, '');
  if (pod.unscheduled !== undefined) {
    return (
      blockedBy(slot, 'volume') ??
      passing(
        'PodUnscheduled',
        `the pod of ${name} finds no node (${pod.unscheduled}); why: ${kubectl(slot, `describe pod ${name}-0`)}`,
      )
    );
  }
  return containerAilment(slot, pod);
}

/** An object of another owner has its name. The other members go on without it. */
function heldBackBy(slot: Slot): Ailment | undefined {
  if (!isBlockedByLeftovers(slot)) return undefined;
  const foreign = foreignOf(slot);
  if (foreign === undefined) return passing('OldObjectsLeaving', leftoverIn(slot), '');
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
  const held = isBeforeItsStart(slot) ? blockedBy(slot, 'pod') : undefined;
  if (held) return held;
  if (imageReasons.has(container.reason)) {
    return lasting(
      'ImageUnavailable',
      `the image of ${name} cannot be pulled (${container.reason})`,
      `correct spec.version or spec.image, or make the image available; the registry's answer: ${kubectl(slot, `describe pod ${name}-0`)}`,
    );
  }
  if (configReasons.has(container.reason)) {
    return lasting(
      'ContainerCannotStart',
      `the container of ${name} cannot start (${container.reason})`,
      `see why: ${kubectl(slot, `describe pod ${name}-0`)}; correct spec.podTemplate or spec.resources`,
    );
  }
  const ended = endingOf(slot, pod);
  if (ended) return ended;
  const beside = endingBeside(slot, pod);
  if (beside) return beside;
  if (!ready && container.reason === 'PodInitializing') {
    return passing(
      'PodInitializing',
      `the init containers of ${name} have not finished`,
      `see which one: ${kubectl(slot, `describe pod ${name}-0`)}; correct spec.podTemplate, or what that container waits for`,
    );
  }
  if (!ready && !isShut(slot)) {
    return passing(
      'MemberStarting',
      `${name} is starting${startupInWords(container)}`,
      `see how far it has come: ${kubectl(slot, `describe pod ${name}-0`)}, and ${kubectl(slot, `logs ${name}-0`)}; a large database may need a startupProbe with more time (spec.podTemplate)`,
    );
  }
  // What another client wrote there is no template of ours: the pod that we made is the right one.
  if (upToDate === 'no' && !slot.statefulSet?.drift) {
    return passing(
      'PodOutdated',
      `the pod of ${name} runs an older template than its StatefulSet has; it is recreated when all others are healthy`,
    );
  }
  return undefined;
}

/** etcd reports no member as ready while CORRUPT is raised, whichever data are wrong. */
function isShut({ endpoint }: Slot): boolean {
  return endpoint.kind === 'known' && endpoint.status.errors.some((error) => error.includes('CORRUPT'));
}

/** Whether the member cannot run on the configuration that it has: then no other member should get the same. */
export function isDownOnItsConfiguration({ pod }: Slot): boolean {
  if (!pod || pod.leaving) return false;
  const { state, reason } = pod.container;
  return (
    state === 'terminated' || reason === 'CrashLoopBackOff' || imageReasons.has(reason) || configReasons.has(reason)
  );
}

/** Its image is not there, whatever its registry says. */
export function isWithoutImage({ pod }: Slot): boolean {
  return pod !== undefined && !pod.leaving && imageReasons.has(pod.container.reason);
}
