import { isHigher } from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import { annotateCommand } from '../../../manifests/build/kubectl.ts';
import { annotations } from '../../../manifests/build/names.ts';
import { setAsideCodes } from '../../../manifests/build/recovery-job.ts';
import type { Recovery } from '../../../manifests/build/volume-record.ts';
import type { Ref } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import type { Inputs } from '../effective.ts';
import { recordOf } from '../life.ts';
import { approvalGiven } from '../lost.ts';
import type { RecoveryJobView, RecoveryPodView, Slot, VolumeView } from '../observation.ts';

/** The Job that makes a cluster of one: made once everybody was seen stopped, awaited, and repeated where that may help. */
export function force(chosen: Slot, recovery: Recovery, situation: Situation): Decision | undefined {
  const { recovery: view, effective } = situation;
  const { name, volume, peer } = chosen;
  if (!volume) return undefined;
  if (view?.kind !== 'known') {
    return refuse(
      'RecoveryNotPermitted',
      `Jobs can not be looked at: ${view?.cause ?? 'nobody has'}`,
      'apply the roles of this release of etcd-ratchet (manifests/install)',
    );
  }
  if (!peer?.current || peer.leaving) return bringPeer(chosen, situation);
  const wanted = inputsFor(peer.inputs, effective.inputs);
  const isOutdated = inputsHash(wanted) !== inputsHash(peer.inputs);
  const { job, pods } = view;
  if (job) return follow({ name, volume }, { job, pod: pods[0], isOutdated }, recovery, situation);
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

/** Everything that the Job is made from is in the peer. */
function bringPeer(chosen: Slot, { effective }: Situation): Decision {
  const { name, peer } = chosen;
  const record = recordOf(chosen);
  if (peer || !record)
    return wait('OldObjectsLeaving', `the old peer of ${name} is leaving`, { on: 'change', of: 'peers' });
  return act(
    { kind: 'prepare-members', members: [{ name, record }], inputs: effective.inputs },
    'AdoptingVolumes',
    `preparing ${name}, which the cluster goes on from`,
  );
}

/** What is there of an attempt. */
interface Attempt {
  readonly job: RecoveryJobView;
  readonly pod: RecoveryPodView | undefined;
  /** The spec asks for something else by now than its pod is made from. */
  readonly isOutdated: boolean;
}

function follow(
  { name, volume }: { readonly name: string; readonly volume: Pick<VolumeView, 'uid'> },
  { job, pod, isOutdated }: Attempt,
  { id, attempt }: Recovery,
  situation: Situation,
): Decision {
  if (job.leaving) return wait('RecoveryPodLeaving', 'the Job of an earlier attempt is leaving', ...soon);
  const isStale = job.attempt !== `${id}/${attempt}`;
  if (isStale || (job.failed && isOutdated)) return repeating(job);
  if (job.failed) return failed(name, pod, job, situation);
  if (pod?.ready && !pod.leaving) {
    return act(
      {
        kind: 'conclude-recovery',
        volume: { name, uid: volume.uid },
        job: { name: job.name, uid: job.uid },
        pod: { name: pod.name, uid: pod.uid },
        id,
        attempt,
      },
      'ConcludingRecovery',
      `${name} leads itself: from now on it is started without the flag that made it forget the others`,
    );
  }
  const held = pod?.waiting ?? pod?.unscheduled;
  if (held === undefined || passing.has(held))
    return wait('RecoveringData', `a Job makes a cluster of one out of what ${name} has`, ...soon);
  if (isOutdated) return repeating(job);
  return refuse(
    'RecoveryPodStuck',
    `the pod of Job ${job.name} does not start (${held})`,
    `kubectl -n ${situation.cluster.metadata.namespace} describe pod ${pod?.name} says why; it goes on when that is cured, or the spec is`,
  );
}

/**
 * What cures a Job that can't be run: whatever the spec asks for by now, but for a higher version. That comes when the cluster is
 * whole again, by the rules for it.
 */
function inputsFor(present: Inputs, wanted: Inputs): Inputs {
  return isHigher(wanted.version, present.version) ? present : wanted;
}

const soon = [
  { on: 'change', of: 'pods' },
  { on: 'time', afterSeconds: 2 },
] as const;

const passing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', 'SchedulerError']);

/** What another attempt may cure is tried again; what says why it failed is a person's. */
function failed(name: string, pod: RecoveryPodView | undefined, job: Ref, situation: Situation): Decision {
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
        annotateCommand('etcdclusters', cluster.metadata, annotations.recoverQuorum, withoutCopyText(situation)),
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
export function leftover({ recovery }: Situation): Decision | undefined {
  if (recovery?.kind !== 'known' || !recovery.job || recovery.job.leaving) return undefined;
  const { name, uid } = recovery.job;
  return act(
    { kind: 'delete-recovery-job', job: { name, uid } },
    'DeletingRecoveryJob',
    `deleting Job ${name}: the recovery is over`,
  );
}

/** Two of them would have the same data open. */
export function podLeaving({ recovery }: Situation): Decision | undefined {
  if (recovery?.kind === 'unknown') return wait('RecoveryPodLeaving', recovery.cause, ...soon);
  if (!recovery || (recovery.pods.length === 0 && !recovery.job)) return undefined;
  return wait('RecoveryPodLeaving', 'the pod of the recovery is leaving, then its member starts', ...soon);
}
