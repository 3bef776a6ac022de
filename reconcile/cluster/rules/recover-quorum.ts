import { compareVersions, parseVersion } from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import { annotations } from '../../../manifests/build/names.ts';
import { setAsideCodes } from '../../../manifests/build/recovery-job.ts';
import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { Ref } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import type { Inputs } from '../effective.ts';
import { openFences } from '../fencing.ts';
import { hasDeparted, recordOf } from '../life.ts';
import { approvalGiven } from '../lost.ts';
import type { RecoveryPodView, Slot } from '../observation.ts';
import { outvotedBy, unmarkedOf } from '../outvoted.ts';
import { isBeingRecovered } from './await-quorum.ts';

/**
 * A recovery that a person approved, from the mark on the volume on: whatever the annotation says by now, it is finished.
 *
 * Every other volume is told that it was outvoted; everybody stops; everybody is seen stopped; a Job makes a cluster of one of what
 * the chosen volume holds; the Job goes. Then the member starts at its old address, where those it left behind are told so.
 *
 * Guards I5 and I9: until the end nothing is let in, so that whatever was begun can be begun again; from `recovered` on nothing is.
 */
export function recoverQuorum(situation: Situation): Decision | undefined {
  const chosen = situation.slots.find(isBeingRecovered);
  const record = chosen && recordOf(chosen);
  if (!chosen?.volume || !record) return mark(situation) ?? leftover(situation);
  const recovery = record.recovery;
  const problem = problemOf(chosen, recovery, situation);
  if (problem || !recovery) return problem;
  if (record.state === 'recovered') {
    // Whoever slept may have started one of those that are left behind.
    const others = situation.slots.filter((slot) => slot !== chosen && hasDeparted(slot));
    return mark(situation) ?? stop(chosen, others, situation) ?? leftover(situation) ?? podLeaving(situation);
  }
  return (
    quorumReturned(chosen, recovery, situation) ??
    mark(situation) ??
    outvote(chosen, situation) ??
    stop(chosen, situation.slots, situation) ??
    fence(recovery, situation) ??
    force(chosen, recovery, situation)
  );
}

function problemOf(chosen: Slot, recovery: Recovery | undefined, { slots, life }: Situation): Decision | undefined {
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
      `restore PersistentVolumeClaim ${name} with its annotations; or, to go on from another one that holds data, delete PersistentVolumeClaim ${name} and set annotation ${annotations.volumeState} of the other one to sealed`,
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
function quorumReturned(
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

/** Those that were left behind, and whose claims do not say so: nobody may start them when the others are gone, either. */
function mark({ slots }: Situation): Decision | undefined {
  const found = unmarkedOf(slots);
  return found && outvoting(found.witness, found.unmarked);
}

/** Those that whoever began did not come to. */
function outvote(chosen: Slot, { slots, life }: Situation): Decision | undefined {
  const strays = life.stage === 'born' ? life.strays : [];
  const others = slots.filter(
    (slot) => slot !== chosen && recordOf(slot) && !hasDeparted(slot) && !strays.includes(slot),
  );
  return others.length > 0 ? outvoting(chosen, others) : undefined;
}

function outvoting(witness: Slot, others: readonly Slot[]): Decision | undefined {
  const volumes = others.flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  return (
    witness.volume &&
    act(
      { kind: 'outvote-members', volume: { name: witness.name, uid: witness.volume.uid }, volumes },
      'OutvotingMembers',
      `${volumes.map(({ name }) => name).join(', ')}: left behind by the recovery from which ${witness.name} goes on; their volumes are kept`,
    )
  );
}

/** Also whom somebody who slept has started since: nobody of these runs. */
function stop(chosen: Slot, slots: readonly Slot[], { cluster }: Situation): Decision | undefined {
  const statefulSets = slots.flatMap(({ name, statefulSet }) =>
    statefulSet && !statefulSet.leaving ? [{ name, uid: statefulSet.uid }] : [],
  );
  const pods = slots.flatMap(({ name, statefulSet, pod }) =>
    pod && !pod.leaving && !statefulSet ? [{ name, uid: pod.uid }] : [],
  );
  if (statefulSets.length + pods.length === 0 || !chosen.volume) return undefined;
  return act(
    { kind: 'stop-members', volume: { name: chosen.name, uid: chosen.volume.uid }, statefulSets, pods },
    'StoppingMembers',
    `stopping members of ${cluster.metadata.name}: none may run while one forgets the others`,
  );
}

/** That nobody runs any more has been seen. */
function fence(recovery: Recovery, { slots, recovery: view }: Situation): Decision | undefined {
  // Before the first attempt everybody was seen stopped, wherever they had been.
  const { lastSeenOn, ...rest } = recovery;
  const open = openFences(slots, recovery.attempt === 0 ? recovery : { ...rest, lastSeenOn: {} }, view);
  const stuck = open.find(({ cure }) => cure !== undefined);
  if (stuck?.cure !== undefined) return refuse('MemberNotFenced', stuck.message, stuck.cure);
  const [first] = open;
  return first && wait('FencingMembers', first.message, { on: 'change', of: 'pods' }, { on: 'time', afterSeconds: 2 });
}

function force(chosen: Slot, recovery: Recovery, situation: Situation): Decision | undefined {
  const { recovery: view, cluster } = situation;
  const { name, volume, peer } = chosen;
  if (!volume) return undefined;
  if (view?.kind !== 'known') {
    return refuse(
      'RecoveryNotPermitted',
      `Jobs can not be looked at: ${view?.cause ?? 'nobody has'}`,
      'apply the roles of this release of etcd-ratchet (manifests/install)',
    );
  }
  if (!peer?.current || peer.leaving) {
    const record = recordOf(chosen);
    if (peer || !record)
      return wait('OldObjectsLeaving', `the old peer of ${name} is leaving`, { on: 'change', of: 'peers' });
    return act(
      { kind: 'prepare-members', members: [{ name, record }], inputs: situation.effective.inputs },
      'AdoptingVolumes',
      `preparing ${name}, which the cluster goes on from`,
    );
  }
  const { job, pods } = view;
  const wanted = inputsFor(peer.inputs, situation.effective.inputs);
  const isOutdated = inputsHash(wanted) !== inputsHash(peer.inputs);
  if (!job) {
    if (pods.length > 0) return wait('RecoveryPodLeaving', 'the pod of an earlier attempt is leaving', ...soon);
    if (isOutdated) {
      return act(
        { kind: 'reconfigure-members', peers: [{ name, uid: peer.uid }], inputs: wanted },
        'CuringConfiguration',
        `giving ${name} the configuration that the spec now asks for, before the Job is made`,
      );
    }
    const withoutCopy = mayDoWithoutCopy(situation);
    return act(
      {
        kind: 'force-new-cluster',
        volume: { name, uid: volume.uid },
        peer: { name, uid: peer.uid },
        id: recovery.id,
        attempt: recovery.attempt + 1,
        withoutCopy,
      },
      'ForcingNewCluster',
      `making a cluster of one out of what ${name} has${withoutCopy ? ', without a copy, as approved' : '; a copy of it is kept beside it'}`,
    );
  }
  if (job.leaving) return wait('RecoveryPodLeaving', 'the Job of an earlier attempt is leaving', ...soon);
  const [pod] = pods;
  const isStale = job.attempt !== `${recovery.id}/${recovery.attempt}`;
  if (isStale || (job.failed && isOutdated)) return repeating(job);
  if (job.failed) return failed(chosen, pod, job, situation);
  if (pod?.ready && !pod.leaving) {
    return act(
      {
        kind: 'conclude-recovery',
        volume: { name, uid: volume.uid },
        job: { name: job.name, uid: job.uid },
        pod: { name: pod.name, uid: pod.uid },
        id: recovery.id,
        attempt: recovery.attempt,
      },
      'ConcludingRecovery',
      `${name} leads itself: from now on it is started without the flag that made it forget the others`,
    );
  }
  const held = pod?.waiting ?? pod?.unscheduled;
  if (held !== undefined && !passing.has(held)) {
    if (isOutdated) return repeating(job);
    return refuse(
      'RecoveryPodStuck',
      `the pod of Job ${job.name} does not start (${held})`,
      `kubectl -n ${cluster.metadata.namespace} describe pod ${pod?.name} says why; it goes on when that is cured, or the spec is`,
    );
  }
  return wait('RecoveringData', `a Job makes a cluster of one out of what ${name} has`, ...soon);
}

/**
 * What cures a Job that can't be run: whatever the spec asks for by now, but for a higher version. That comes when the cluster is
 * whole again, by the rules for it.
 */
function inputsFor(present: Inputs, wanted: Inputs): Inputs {
  const isHigher = compareVersions(parseVersion(wanted.version), parseVersion(present.version)) > 0;
  return isHigher ? present : wanted;
}

const soon = [
  { on: 'change', of: 'pods' },
  { on: 'time', afterSeconds: 2 },
] as const;

const passing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', 'SchedulerError']);

/** What another attempt may cure is tried again; what says why it failed is a person's. */
function failed({ name }: Slot, pod: RecoveryPodView | undefined, job: Ref, situation: Situation): Decision {
  const { cluster } = situation;
  const failure = pod?.failure;
  const again = repeating(job);
  if (failure?.reason === 'OOMKilled') {
    return refuse(
      'RecoveryOutOfMemory',
      `container ${failure.container} of Job ${job.name} was killed because it has too little memory`,
      'raise spec.resources.limits.memory: the Job is made anew then',
    );
  }
  if (failure === undefined || failure.code === setAsideCodes.ranAlready || isKilled(failure.code)) return again;
  const { namespace = 'default' } = cluster.metadata;
  if (failure.code === setAsideCodes.noRoom && failure.container === 'set-aside') {
    if (mayDoWithoutCopy(situation)) return again;
    return refuse(
      'NoRoomForCopy',
      `volume ${name} has no room for the copy that is kept before etcd is told to forget the others: ${failure.words}`,
      `enlarge the volume (kubectl -n ${namespace} patch pvc ${name}) or back it up, then kubectl -n ${namespace} delete job ${job.name}; or approve that it is done without a copy: ` +
        `kubectl -n ${namespace} annotate --overwrite etcdcluster ${cluster.metadata.name} ${annotations.recoverQuorum}=${withoutCopyText(situation)}`,
    );
  }
  return refuse(
    'RecoveryFailed',
    `Job ${job.name} has failed in container ${failure.container}: ${failure.words || `exit code ${failure.code}`}`,
    `cure that, then kubectl -n ${namespace} delete job ${job.name}: it is made anew; what ${name} had before is in before-recovery-… on its volume`,
  );
}

/** The Job that is there goes, and with it its pod; then the next one is made. */
function repeating({ name, uid }: Ref): Decision {
  return act(
    { kind: 'delete-recovery-job', job: { name, uid } },
    'RepeatingRecovery',
    `Job ${name} has ended without a result: it is made anew, since nobody was let in yet`,
  );
}

/** By a signal, as at an eviction, or when its node goes down. */
function isKilled(code: number): boolean {
  return code === 137 || code === 143;
}

function withoutCopyText({ life }: Situation): string {
  return `${life.stage === 'born' ? life.clusterId : ''}/without-copy`;
}

function mayDoWithoutCopy(situation: Situation): boolean {
  return approvalGiven(situation) === withoutCopyText(situation);
}

/** A Job that nobody needs any more, or that was made by whoever slept: its number keeps it from doing anything. */
function leftover({ recovery }: Situation): Decision | undefined {
  if (recovery?.kind !== 'known' || !recovery.job || recovery.job.leaving) return undefined;
  const { name, uid } = recovery.job;
  return act(
    { kind: 'delete-recovery-job', job: { name, uid } },
    'DeletingRecoveryJob',
    `deleting Job ${name}: the recovery is over`,
  );
}

/** Two of them would have the same data open. */
function podLeaving({ recovery }: Situation): Decision | undefined {
  if (recovery?.kind === 'unknown') return wait('RecoveryPodLeaving', recovery.cause, ...soon);
  if (!recovery || (recovery.pods.length === 0 && !recovery.job)) return undefined;
  return wait('RecoveryPodLeaving', 'the pod of the recovery is leaving, then its member starts', ...soon);
}
