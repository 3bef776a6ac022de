import { annotations } from '../../../manifests/build/names.ts';
import { setAsideCodes } from '../../../manifests/build/recovery-job.ts';
import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { fenceOf } from '../fencing.ts';
import { hasDeparted, recordOf } from '../life.ts';
import { approvalGiven } from '../lost.ts';
import type { RecoveryPodView, Slot } from '../observation.ts';
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
  if (!chosen?.volume || !record) return leftover(situation);
  if (record.state === 'recovered') return leftover(situation) ?? podLeaving(situation);
  const recovery = record.recovery;
  const problem = problemOf(chosen, recovery, situation);
  if (problem || !recovery) return problem;
  const returned = quorumReturned(chosen, recovery, situation);
  if (returned) return returned;
  return outvote(chosen, situation) ?? isolate(chosen, recovery, situation) ?? force(chosen, recovery, situation);
}

function problemOf({ name, volume }: Slot, recovery: Recovery | undefined, { slots }: Situation): Decision | undefined {
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
      `restore PersistentVolumeClaim ${name} with its annotations, or set annotation ${annotations.volumeState} of another one that holds data to sealed`,
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

/** Those that whoever began did not come to. */
function outvote(chosen: Slot, { slots, life }: Situation): Decision | undefined {
  const strays = life.stage === 'born' ? life.strays : [];
  const volumes = slots.flatMap((slot) =>
    slot !== chosen && slot.volume && recordOf(slot) && !hasDeparted(slot) && !strays.includes(slot)
      ? [{ name: slot.name, uid: slot.volume.uid }]
      : [],
  );
  if (volumes.length === 0 || !chosen.volume) return undefined;
  return act(
    { kind: 'outvote-members', volume: { name: chosen.name, uid: chosen.volume.uid }, volumes },
    'OutvotingMembers',
    `${volumes.map(({ name }) => name).join(', ')}: left behind by the recovery from ${chosen.name}; their volumes are kept`,
  );
}

/** Nobody runs any more, and that has been seen. */
function isolate(chosen: Slot, recovery: Recovery, situation: Situation): Decision | undefined {
  // Everybody was seen stopped before the first attempt, and nobody has been started since.
  if (!chosen.volume || recovery.attempt > 0) return undefined;
  const { slots, cluster } = situation;
  const statefulSets = slots.flatMap(({ name, statefulSet }) =>
    statefulSet && !statefulSet.leaving ? [{ name, uid: statefulSet.uid }] : [],
  );
  const pods = slots.flatMap(({ name, statefulSet, pod }) =>
    pod && !pod.leaving && !statefulSet ? [{ name, uid: pod.uid }] : [],
  );
  if (statefulSets.length + pods.length > 0) {
    return act(
      { kind: 'stop-members', volume: { name: chosen.name, uid: chosen.volume.uid }, statefulSets, pods },
      'StoppingMembers',
      `stopping every member of ${cluster.metadata.name}: none may run while one forgets the others`,
    );
  }
  const open = slots.flatMap((slot) => fenceOf(slot, recovery, situation.recovery) ?? []);
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
  if (!job) {
    if (pods.length > 0) return wait('RecoveryPodLeaving', 'the pod of an earlier attempt is leaving', ...soon);
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
  if (job.failed || job.attempt !== `${recovery.id}/${recovery.attempt}`) return failed(chosen, pod, job, situation);
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
    return refuse(
      'RecoveryPodStuck',
      `the pod of Job ${job.name} does not start (${held})`,
      `kubectl -n ${cluster.metadata.namespace} describe pod ${pod?.name} says why; it goes on when that is cured`,
    );
  }
  return wait('RecoveringData', `a Job makes a cluster of one out of what ${name} has`, ...soon);
}

const soon = [
  { on: 'change', of: 'pods' },
  { on: 'time', afterSeconds: 2 },
] as const;

const passing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', 'SchedulerError']);

/** What another attempt may cure is tried again; what says why it failed is a person's. */
function failed(
  { name }: Slot,
  pod: RecoveryPodView | undefined,
  job: { readonly name: string; readonly uid: string },
  situation: Situation,
): Decision {
  const { cluster } = situation;
  const failure = pod?.failure;
  const again = act(
    { kind: 'delete-recovery-job', job },
    'RepeatingRecovery',
    `Job ${job.name} has ended without a result: it is made anew, since nobody was let in yet`,
  );
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
