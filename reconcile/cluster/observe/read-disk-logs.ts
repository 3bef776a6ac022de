import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { logDeadline, logJobContainer } from '../../../manifests/render/log-job.ts';
import { labels, logJobName, logPodLabels } from '../../../manifests/render/names.ts';
import { isControlledBy } from '../../../manifests/render/owner-reference.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { diskLogIn } from '../../jobs/disk-log.ts';
import { isOver } from '../../jobs/job-end.ts';
import { podsOfJob } from '../../jobs/pods.ts';
import { recordOf } from '../know/life.ts';
import type { DiskLogView, Observation, Slot } from '../know/observation.ts';
import { type LogToRead, logsToRead } from '../know/recovery/disk-logs.ts';
import { lossOf } from '../know/recovery/lost.ts';
import { situate } from '../know/situation.ts';
import type { ClusterObjects } from './snapshot.ts';

/** At once for one disk. */
const mostReaders = 2;

/** One GET for each member whose disk is to be read: only where a quorum is lost for good. */
export async function withDiskLogs(
  kube: Kube,
  observation: Observation,
  { pods }: Pick<ClusterObjects, 'pods'>,
  signal: AbortSignal,
): Promise<Observation> {
  if (observation.membership.kind === 'known') return observation;
  const loss = lossOf(situate(observation));
  const wanted = loss ? logsToRead(loss) : [];
  if (wanted.length === 0) return observation;
  const slots = observation.slots.map(async (slot) => {
    const order = wanted.find(({ name }) => name === slot.name);
    const log = order && (await readLog(kube, { order, slot, pods, observation }, signal));
    return log ? { ...slot, log } : slot;
  });
  return { ...observation, slots: await Promise.all(slots) };
}

interface Asked {
  readonly order: LogToRead;
  readonly slot: Slot;
  readonly pods: readonly Pod[];
  readonly observation: Pick<Observation, 'cluster' | 'at'>;
}

/** `undefined`: there is no such Job. */
async function readLog(
  kube: Kube,
  { order, slot, pods, observation: { cluster, at } }: Asked,
  signal: AbortSignal,
): Promise<DiskLogView | undefined> {
  const { job: name, peer } = order;
  try {
    const job = await kube.get<Job>(resources.jobs, cluster.metadata.namespace, name, { signal });
    if (!job) {
      const why = 'its pod was replaced while Jobs waited to read its disk';
      return readersOf(slot, pods) < mostReaders ? undefined : { kind: 'unread', job: name, why };
    }
    if (!isControlledBy(job, peer.uid)) return { kind: 'unread', job: name, why: `Job ${name} is not ours` };
    const ours = logPodLabels(cluster.metadata.name)[labels.name];
    const isIts = (one: Pod) =>
      one.metadata.labels?.[labels.name] === ours && isControlledBy(one, job.metadata.uid ?? '');
    const listed = pods.find(isIts);
    // The Job was read after the pods: what ended in between has its answer in a newer list.
    const pod = isOver(job) && !answeredBy(listed) ? (await podsOfJob(kube, job, signal)).find(isIts) : listed;
    return { job: name, ...answerOf(job, pod, { slot, at }) };
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { kind: 'unread', job: name, why: error.message };
  }
}

/** Pods that read this disk, or are to, for earlier situations: a pod that fails at once is soon another one. */
function readersOf({ name }: Slot, pods: readonly Pod[]): number {
  const reads = ({ metadata }: Pod) =>
    metadata.labels?.['batch.kubernetes.io/job-name']?.startsWith(logJobName(name, '')) === true;
  const isOpen = (pod: Pod) => pod.status?.phase !== 'Failed' && !answeredBy(pod);
  return pods.filter((pod) => reads(pod) && isOpen(pod)).length;
}

/** Others may be beside our container: an admission webhook adds what it likes. */
function answeredBy(pod: Pod | undefined) {
  return pod?.status?.containerStatuses?.find(({ name }) => name === logJobContainer)?.state?.terminated;
}

type Answer =
  | { readonly kind: 'reading' }
  | { readonly kind: 'read'; readonly log: Extract<DiskLogView, { kind: 'read' }>['log'] }
  | { readonly kind: 'unread'; readonly why: string };

function answerOf(job: Job, pod: Pod | undefined, { slot, at }: { readonly slot: Slot; readonly at: Date }): Answer {
  const ended = answeredBy(pod);
  if (!ended) {
    if (isOver(job)) {
      const why = `Job ${job.metadata.name} ended without an answer: its pod did not start in time, or was deleted`;
      return { kind: 'unread', why };
    }
    // Its deadline begins with its start: a queue may suspend it, and its controller may be down.
    const age = at.getTime() - Date.parse(job.metadata.creationTimestamp ?? '');
    if (age > 2 * logDeadline * 1000) return { kind: 'unread', why: `Job ${job.metadata.name} has not ended in time` };
    return { kind: 'reading' };
  }
  const said = diskLogIn(ended.message ?? '');
  if (said && 'unreadable' in said) return { kind: 'unread', why: said.unreadable };
  if (!said || ended.exitCode !== 0)
    return { kind: 'unread', why: `the pod of Job ${job.metadata.name} ended with exit code ${ended.exitCode}` };
  const record = recordOf(slot);
  if (said.memberId !== record?.memberId || said.clusterId !== record.clusterId)
    return { kind: 'unread', why: `its disk has the log of member ${said.memberId} of cluster ${said.clusterId}` };
  return { kind: 'read', log: said };
}
