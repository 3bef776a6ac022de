import type { SnapshotSource } from '../../../../manifests/api/backup-settings.ts';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import { claimNamedIn, parseLocation } from '../../../../manifests/api/object-template.ts';
import { placeRefusal } from '../../../../manifests/egress/host-refusal.ts';
import type { Job, Pod } from '../../../../manifests/kube-types.ts';
import { logJob } from '../../../../manifests/render/log-job.ts';
import { annotations, type JobWork, jobNameOf, logJobName, podName } from '../../../../manifests/render/names.ts';
import { beginsLife, type NewLife } from '../../../../manifests/render/new-life.ts';
import { namedBy } from '../../../../manifests/render/offers.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { recoveryJob } from '../../../../manifests/render/recovery-job.ts';
import { hasTrial, restoreJob } from '../../../../manifests/render/restore-job.ts';
import { wishOf } from '../../../../manifests/render/snapshot-id.ts';
import { resources } from '../../../interfaces/kube.ts';
import { isCompleted } from '../../../jobs/job-end.ts';
import { ownImage } from '../../../jobs/own-image.ts';
import { problemOfClaim } from '../../../objects/member-volume.ts';
import { problemOfOffers } from '../../../objects/offers.ts';
import { curedBy } from '../../../reasons/cure.ts';
import { conflict } from '../../../requests/refusals.ts';
import { hostOf, hostRefusedCure, notOfferedCure, onMember } from '../../know/backups/restore.ts';
import { moved, needsPerson } from '../../know/outcome.ts';
import { isReady } from '../../observe/pods.ts';
import { isRecoveryPod, jobOf } from '../../observe/read-recovery.ts';
import { createOurs, listOursAnd, nameTaken } from '../actions/context.ts';
import type { OfMember } from './before-recovery.ts';
import type { Host, JobMade, JobSeen, RecoveryPodSeen } from './host.ts';
import { getOne, type Live } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** The Jobs that leave one member of a recovery, and that restore a snapshot. */

interface OfJob extends OfMember {
  /** Absent: a recovery's. */
  readonly work?: JobWork;
}

/** What there is of an attempt. */
export interface Attempt {
  readonly job?: JobSeen;
  readonly pod?: RecoveryPodSeen;
}

/** The Job makes one pod, once: when that has succeeded, it will be complete. */
export function hasSucceeded({ job, pod }: Attempt): boolean {
  return pod?.succeeded === true && pod.job === job?.uid;
}

/** The Job of a member, and the pod of this name, which that has made up. */
export const readAttempt = defineRequest('readAttempt', {
  words: ({ name }: OfJob & { readonly pod: string }) => `reads the Job of ${name}, and its pod`,
  live: async ({ name, pod, work = 'recovery' }, live): Promise<Attempt> => {
    const [job, found] = await Promise.all([
      getOne<Job>(live, resources.jobs, jobNameOf(name, work)),
      getOne<Pod>(live, resources.pods, pod),
    ]);
    return {
      ...(job && { job: jobSeen(job) }),
      ...(found && { pod: podSeen(found) }),
    };
  },
  model: (state, { name, pod, work = 'recovery' }, host) => {
    const job = host.recovery.job(state, name, work);
    const found = host.recovery.pods(state).find((one) => one.name === pod);
    const answer: Attempt = {
      ...(job && { job: jobAs(job) }),
      ...(found && { pod: seenAs(found) }),
    };
    return { state, answer };
  },
});

function jobAs({ uid, attempt, completed, trial, begins }: JobSeen): JobSeen {
  return { uid, attempt, ...(completed && { completed }), ...(trial && { trial }), ...(begins && { begins }) };
}

function podSeen(pod: Pod): RecoveryPodSeen {
  const { metadata, status } = pod;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    ready: isReady(pod),
    ...jobOf(pod),
    ...(status?.phase === 'Succeeded' && { succeeded: true as const }),
  };
}

function seenAs({ name, uid, ready, job, succeeded }: RecoveryPodSeen): RecoveryPodSeen {
  return { name, uid, ready, ...(job !== undefined && { job }), ...(succeeded && { succeeded }) };
}

/**
 * Whether no pod of a restore can still write. Only a kubelet says that a pod has succeeded, when all of its containers
 * have ended; that one failed may be said of a node that is silent.
 */
export const askRestoresEnded = defineRequest('askRestoresEnded', {
  words: ({ name }: OfMember) => `sees whether the pod that restored ${name} has ended`,
  live: async (_, live): Promise<boolean> => {
    const pods = await listOursAnd<Pod>(live, resources.pods, []);
    const ofRestores = pods.filter((pod) => isRecoveryPod(pod, live.cluster.metadata.name));
    return ofRestores.every(({ status }) => status?.phase === 'Succeeded');
  },
  model: (state, _, host) => ({
    state,
    answer: host.recovery.pods(state).every(({ succeeded }) => succeeded),
  }),
});

function jobSeen(job: Job): JobSeen {
  return {
    uid: job.metadata.uid ?? '',
    attempt: attemptOf(job),
    ...(isCompleted(job) && { completed: true as const }),
    ...(hasTrial(job) && { trial: true as const }),
    ...(beginsLife(job) && { begins: true as const }),
  };
}

function attemptOf({ metadata }: Job): string {
  return metadata.annotations?.[annotations.recovery] ?? '';
}

interface Order {
  /** Its peer, as it was read: the Job is made from it. */
  readonly peer: ReadAt;
  readonly id: string;
  readonly attempt: number;
}

interface RecoveryOrder extends Order {
  readonly withoutCopy: boolean;
  readonly begins?: NewLife | undefined;
}

/** Done already where there is a Job of this very attempt. @throws {StepError} `NameTaken` where there is any other. */
export const createRecoveryJob = defineRequest('createRecoveryJob', {
  words: ({ peer: { name }, attempt }: RecoveryOrder) => `makes the Job of ${name}, attempt ${attempt}`,
  writes: ({ peer: { name } }) => ({ fence: 'absent', object: 'job', name }),
  live: async ({ peer: readAt, id, attempt, withoutCopy, begins }, live): Promise<void> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const [image, offered] = await Promise.all([holdersImage(live), live.offered()]);
    await postJob(live, peer, recoveryJob(peer, { image, id, attempt, withoutCopy, begins }, offered));
  },
  model: (state, { peer: { name }, id, attempt, begins }, host) => ({
    state: withJob(state, name, { work: 'recovery', begins, attempt: `${id}/${attempt}` }, host),
    answer: undefined,
  }),
});

function holdersImage({ kube, cluster, signal }: Live): Promise<string> {
  const { pod = '', uid } = cluster.status?.step?.holder ?? {};
  return ownImage(kube, { pod, uid }, signal);
}

/** Done already where there is that of this very situation. @throws {StepError} `NameTaken` where there is another. */
export const createLogJob = defineRequest('createLogJob', {
  words: ({ peer: { name } }: { readonly peer: ReadAt; readonly situation: string }) =>
    `makes the Job that reads the log of ${name}`,
  writes: ({ peer: { name } }) => ({ fence: 'absent', object: 'job', name }),
  live: async ({ peer: readAt, situation }, live): Promise<void> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const [image, offered, pod] = await Promise.all([
      holdersImage(live),
      live.offered(),
      getOne<Pod>(live, resources.pods, podName(readAt.name)),
    ]);
    await postJob(live, peer, logJob(peer, { image, situation, node: pod?.spec.nodeName }, offered));
  },
  model: (state, { peer: { name }, situation }, host) => ({
    state: host.recovery.makeLogJob(state, name, logJobName(name, situation)),
    answer: undefined,
  }),
});

/** Fine where this very attempt's is there. */
async function postJob(live: Live, peer: EtcdPeer, job: Job): Promise<void> {
  const ours = (found: Job) => isControlledBy(found, peer.metadata.uid ?? '') && attemptOf(found) === attemptOf(job);
  await createOurs<Job>(live, resources.jobs, job, ours);
}

/** As a POST of it would end. */
function withJob<S>(
  state: S,
  name: string,
  { attempt, ...made }: JobMade & { readonly attempt: string },
  { recovery }: Host<S>,
): S {
  const found = recovery.job(state, name, made.work);
  if (!found) return recovery.makeJob(state, name, attempt, made);
  if (found.attempt !== attempt) throw nameTaken(resources.jobs, jobNameOf(name, made.work));
  return state;
}

/** The token is that of its volume, by which the restored cluster gets its ID. */
interface RestoreOrder extends Order {
  readonly token: string;
  readonly bump: number;
  /** Of a rollback, unless its approval goes without. */
  readonly trial?: true | undefined;
  /** Of a rollback to an EtcdBackup: the snapshot that the volume remembers. */
  readonly resolved?: SnapshotSource;
}

/**
 * Made of the snapshot that the spec names when the lease is taken, or that the volume remembers. Done already where
 * there is a Job of this very attempt.
 *
 * @throws {StepError} `NameTaken` where there is any other; `SnapshotOnMember`, `SnapshotHostRefused` or
 * `SnapshotNotOffered`: no Job is made.
 */
export const createRestoreJob = defineRequest('createRestoreJob', {
  words: ({ peer: { name }, attempt }: RestoreOrder) => `makes the Job that restores ${name}, attempt ${attempt}`,
  writes: ({ peer: { name } }) => ({ fence: 'absent', object: 'job', name }),
  live: async ({ peer: readAt, id, attempt, token, bump, trial, resolved }, live): Promise<void> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const { bootstrap, rollback } = live.cluster.spec;
    const snapshot = [bootstrap?.snapshot, rollback?.snapshot, resolved].find((one) => one && wishOf(one) === id);
    if (!snapshot) throw moved('the spec names another snapshot by now');
    await keepOffMembers(snapshot, live);
    keepToHosts(snapshot, live);
    await keepToOffers(snapshot, live);
    const [image, offered] = await Promise.all([holdersImage(live), live.offered()]);
    const order = { image, snapshot, id, attempt, token, bump, trial, egress: live.egress };
    await postJob(live, peer, restoreJob(peer, order, offered));
  },
  model: (state, { peer: { name }, id, attempt, bump, trial }, host) => ({
    state: withJob(state, name, { work: 'restore', bump, trial, attempt: `${id}/${attempt}` }, host),
    answer: undefined,
  }),
});

/** @throws {StepError} `SnapshotOnMember` */
async function keepOffMembers({ object }: SnapshotSource, { kube, cluster, signal }: Live): Promise<void> {
  const claimName = claimNamedIn(parseLocation(object));
  if (claimName === undefined) return;
  const { name, namespace } = cluster.metadata;
  const problem = await problemOfClaim(kube, { namespace, claimName, clusters: [name] }, signal);
  if (problem === undefined) return;
  throw needsPerson('SnapshotOnMember', curedBy(`${problem}: ${onMember.means}`, onMember.cure));
}

/** @throws {StepError} `SnapshotHostRefused` */
function keepToHosts(snapshot: SnapshotSource, { egress, cluster }: Live): void {
  const location = parseLocation(snapshot.object);
  if ('problem' in location) return;
  const { namespace } = cluster.metadata;
  const refused = placeRefusal({ location, host: hostOf(snapshot), namespace }, egress);
  if (refused !== undefined) throw needsPerson('SnapshotHostRefused', curedBy(refused, hostRefusedCure));
}

/** @throws {StepError} `SnapshotNotOffered` */
async function keepToOffers(snapshot: SnapshotSource, { kube, cluster, signal }: Live): Promise<void> {
  const { namespace } = cluster.metadata;
  const problem = await problemOfOffers(kube, { namespace, named: namedBy(snapshot) }, signal);
  if (problem !== undefined) throw needsPerson('SnapshotNotOffered', curedBy(problem, notOfferedCure));
}

/** With its pod, which ends as any other does. */
export const deleteJob = defineRequest('deleteJob', {
  words: ({ name }: OfJob & { readonly uid: string }) => `deletes the Job of ${name}`,
  writes: ({ name }) => ({ fence: 'uid', object: 'job', name }),
  live: async ({ name, uid, work = 'recovery' }, { kube, cluster, signal }: Live): Promise<void> => {
    const options = { preconditions: { uid }, propagation: 'Background', signal } as const;
    await kube.delete(resources.jobs, cluster.metadata.namespace, jobNameOf(name, work), options);
  },
  model: (state, { name, uid, work = 'recovery' }, host) => {
    const found = host.recovery.job(state, name, work);
    if (found && found.uid !== uid) throw conflict(`there is another ${jobNameOf(name, work)} by now`);
    return { state: found ? host.recovery.removeJob(state, name, work) : state, answer: undefined };
  },
});
