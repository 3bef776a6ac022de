import type { ContainerStatus, Job, Node, Pod } from '../../../manifests/kube-types.ts';
import {
  annotations,
  jobNameOf,
  labels,
  recoveryContainers,
  recoveryPodLabels,
  restorePodLabels,
} from '../../../manifests/render/names.ts';
import { beginsLife } from '../../../manifests/render/new-life.ts';
import { isControlledBy } from '../../../manifests/render/owner-reference.ts';
import { hasTrial, restoreContainers } from '../../../manifests/render/restore-job.ts';
import { isOfRestore } from '../../../manifests/render/volume-record.ts';
import { isReason, type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { toldFailure } from '../../jobs/failure.ts';
import { endOf, isCompleted, isOver } from '../../jobs/job-end.ts';
import { startSeconds } from '../../jobs/pod-start.ts';
import { podsOfJob } from '../../jobs/pods.ts';
import { isFromRecovery, recordOf } from '../know/life.ts';
import type { NodeState, RecoveryJobView, RecoveryPodView, RecoveryView, Slot } from '../know/observation.ts';
import { isKilled } from '../know/pods/job-pod.ts';
import { isReady } from './pods.ts';
import { stateOfNode } from './read-nodes.ts';
import { type Reported, reportedOf } from './reported.ts';
import { lastLine } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

/** Native sidecars, which kubelet starts again. */
const sidecars: readonly string[] = [restoreContainers.trial, recoveryContainers.force];

/**
 * Asked only while a volume says that its cluster is being recovered or restored, or a pod of that is seen: at rest it
 * costs nothing.
 */
export async function readRecovery(
  kube: Kube,
  { cluster, pods }: Pick<ClusterObjects, 'cluster' | 'pods'>,
  slots: readonly Slot[],
  { at, signal }: { readonly at: Date; readonly signal: AbortSignal },
): Promise<RecoveryView | undefined> {
  const { namespace, name } = cluster.metadata;
  const found = pods.filter((pod) => isRecoveryPod(pod, name));
  const chosen = slots.find(hasJob);
  const jobName = chosen ? jobNameIn(chosen) : found[0]?.metadata.labels?.['batch.kubernetes.io/job-name'];
  if (jobName === undefined) return undefined;
  const recovery = chosen && recordOf(chosen)?.recovery;
  const seen = [...slots.flatMap(({ pod }) => pod?.node ?? []), ...Object.values(recovery?.lastSeenOn ?? {}).flat()];
  try {
    const [job, nodes] = await Promise.all([
      kube.get<Job>(resources.jobs, namespace, jobName, { signal }),
      isToBeFenced(chosen) ? readNodes(kube, seen, signal) : {},
    ]);
    const notStarted = job && chosen ? await whyNotStarted(kube, job, found, { at, signal }) : undefined;
    const seenJob = job && { job: { ...jobView(job), ...(notStarted && { notStarted }) } };
    const ended = job && (await asEnded(kube, job, found, signal));
    return { kind: 'known', ...seenJob, pods: (ended ?? found).map(podView), nodes };
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { kind: 'unknown', cause: error.message };
  }
}

/** The Job was read after the pods: why one failed that ended in between is in a newer list. */
async function asEnded(kube: Kube, job: Job, pods: readonly Pod[], signal: AbortSignal): Promise<readonly Pod[]> {
  const isIts = (pod: Pod) => isControlledBy(pod, job.metadata.uid ?? '');
  const hasEnded = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  // On a dead node a pod that is to go never says more.
  const mayHave = (pod: Pod) => isIts(pod) && !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;
  if (!isOver(job) || !pods.some(mayHave)) return pods;
  const newer = new Map((await podsOfJob(kube, job, signal)).filter(isIts).map((pod) => [pod.metadata.uid, pod]));
  return pods.map((pod) => newer.get(pod.metadata.uid) ?? pod);
}

/** A status says nothing of a volume that is not mounted, or of a pod that was never made: events do. */
async function whyNotStarted(
  kube: Kube,
  job: Job,
  pods: readonly Pod[],
  { at, signal }: { readonly at: Date; readonly signal: AbortSignal },
): Promise<Reported | undefined> {
  const pod = pods.find(({ metadata }) => isControlledBy({ metadata }, job.metadata.uid ?? ''));
  const waited = at.getTime() - Date.parse(pod?.metadata.creationTimestamp ?? '');
  if (isOver(job) || (pod && !(waited >= startSeconds * 1000))) return undefined;
  return reportedOf(kube, pod ?? job, pod ? 'pod' : 'job', { at, signal });
}

function hasJob(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return state === 'recovering' || state === 'recovered' || isRestore(slot);
}

/** Others must be seen ended: before the first attempt of a recovery, and before a rolled back cluster starts. */
function isToBeFenced(slot: Slot | undefined): boolean {
  const record = slot && recordOf(slot);
  if (!record) return false;
  return isOfRestore(record)
    ? record.state === 'restored' && record.gaveUp !== undefined
    : record.recovery?.attempt === 0;
}

function isRestore(slot: Slot | undefined): boolean {
  const record = slot && recordOf(slot);
  return record !== undefined && isOfRestore(record);
}

function jobNameIn(slot: Slot): string {
  return jobNameOf(slot.name, isRestore(slot) && !isFromRecovery(slot) ? 'restore' : 'recovery');
}

/** Of a restore as well. */
export function isRecoveryPod({ metadata }: Pick<Pod, 'metadata'>, cluster: string): boolean {
  const ours = [recoveryPodLabels(cluster), restorePodLabels(cluster)].map((pod) => pod[labels.name]);
  return ours.includes(metadata.labels?.[labels.name] ?? '');
}

function jobView(job: Job): RecoveryJobView {
  const { metadata } = job;
  const endedAt = endOf(job);
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    leaving: metadata.deletionTimestamp !== undefined,
    attempt: metadata.annotations?.[annotations.recovery] ?? '',
    failed: isOver(job),
    ...(isCompleted(job) && { completed: true as const }),
    ...(hasTrial(job) && { trial: true as const }),
    ...(beginsLife(job) && { begins: true as const }),
    ...(endedAt && { endedAt }),
  };
}

function podView(pod: Pod): RecoveryPodView {
  const { metadata, spec, status } = pod;
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const failure = sidecarFailure(containers) ?? containers.filter((one) => !isSidecar(one)).flatMap(failureOf)[0];
  const waiting = containers.find(({ state }) => state?.waiting)?.state?.waiting?.reason;
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const homeless = spec.nodeName === undefined && scheduled?.status === 'False';
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    leaving: metadata.deletionTimestamp !== undefined,
    ...jobOf(pod),
    ...(status?.phase === 'Succeeded' && { succeeded: true as const }),
    ...(metadata.deletionTimestamp !== undefined && { endsBy: new Date(metadata.deletionTimestamp) }),
    ...(spec.nodeName !== undefined && { node: spec.nodeName }),
    ready: isReady(pod),
    ...(homeless && { unscheduled: scheduled.reason ?? 'Unschedulable' }),
    ...(waiting !== undefined && { waiting }),
    ...(failure && { failure }),
  };
}

/** The Job that controls it. */
export function jobOf({ metadata }: Pick<Pod, 'metadata'>): Pick<RecoveryPodView, 'job'> {
  const job = metadata.ownerReferences?.find(({ kind, controller }) => kind === 'Job' && controller === true)?.uid;
  return job === undefined ? {} : { job };
}

function failureOf({ name, state }: ContainerStatus): NonNullable<RecoveryPodView['failure']>[] {
  const ended = state?.terminated;
  if (!ended || ended.exitCode === 0) return [];
  const { exitCode: code, reason, message = '' } = ended;
  const told = toldFailure(message);
  const words = lastLine(message);
  return [{ container: name, code, words, ...(reason !== undefined && { reason }), ...(told && { told }) }];
}

/** Kubelet starts it again, and ends it with its pod, which is no failure of it. */
function sidecarFailure(containers: readonly ContainerStatus[]): RecoveryPodView['failure'] {
  const etcd = containers.find(isSidecar);
  const ends = [etcd?.state, etcd?.lastState].flatMap((state) => (etcd && state ? failureOf({ ...etcd, state }) : []));
  return ends.find((one) => !isKilled(one));
}

function isSidecar({ name }: ContainerStatus): boolean {
  return sidecars.includes(name);
}

async function readNodes(
  kube: Kube,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, NodeState>>> {
  const entries = [...new Set(names)].map(async (name) => [name, await readNode(kube, name, signal)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** An installation for one namespace may not look at nodes: then what left the API server counts as ended. */
async function readNode(kube: Kube, name: string, signal: AbortSignal): Promise<NodeState> {
  try {
    const node = await kube.get<Node>(resources.nodes, undefined, name, { signal });
    return node ? stateOfNode(node) : 'gone';
  } catch (error) {
    if (isReason(error, 'Forbidden')) return 'unknown';
    throw error;
  }
}
