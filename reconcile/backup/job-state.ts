import type { ContainerStatus, Job, Pod } from '../../manifests/kube-types.ts';
import { drillContainers } from '../../manifests/render/backup-jobs.ts';
import { isCompleted } from '../jobs/job-end.ts';
import { isKept, ownStatuses } from '../jobs/own-containers.ts';
import { oneLine, parseSaid } from './said.ts';
import type { JobState, Trouble } from './situation.ts';

/** How a Job of ours went, by what Kubernetes says of its one pod. Pure. */
export function stateOfJob(job: Job, pod: Pod | undefined): JobState {
  const containers = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
  const isDone = isCompleted(job);
  const failed = job.status?.conditions?.find(
    ({ type, status }) => (type === 'Failed' || type === 'FailureTarget') && status === 'True',
  );
  // The last one is the one that the others work for.
  const spoken = ownStatuses(job, pod).flatMap(saidBy).at(-1);
  if (spoken !== undefined && (spoken.kind === 'failure' || isDone)) return { kind: 'said', said: spoken };
  if (spoken !== undefined && isKept(job, pod)) return { kind: 'said', said: spoken, kept: true };
  if (isDone) return broke('AgentBroke', 'its pod is done, and what the agent said is not to be had');
  if (failed === undefined) return underWay(pod, containers);
  return whatBroke(failed.reason, pod, containers);
}

function saidBy({ name, state }: ContainerStatus) {
  if (name === drillContainers.restore || name === drillContainers.etcd) return [];
  const said = parseSaid(state?.terminated?.message ?? '');
  return said === undefined ? [] : [said];
}

/** etcd on a sound snapshot starts at once; one that exits again and again never will. */
const etcdRestarts = 3;

function underWay(pod: Pod | undefined, containers: readonly ContainerStatus[]): JobState {
  const etcd = containers.find(({ name }) => name === drillContainers.etcd);
  const ended = etcd?.lastState?.terminated ?? etcd?.state?.terminated;
  if (etcd && etcd.restartCount >= etcdRestarts && ended && ended.exitCode !== 0 && ended.reason !== 'OOMKilled')
    return broke('EtcdNotStarted', `etcd does not start on what was restored: ${lastLine(ended.message)}`);
  const trouble = troubleOf(pod, containers);
  return { kind: 'under-way', ...(trouble !== undefined && { trouble }) };
}

const usual: readonly string[] = ['ContainerCreating', 'PodInitializing'];

function troubleOf(pod: Pod | undefined, containers: readonly ContainerStatus[]): Trouble | undefined {
  const ends = containers.flatMap(({ state }) => state?.terminated?.finishedAt ?? []);
  const since = [pod?.metadata.creationTimestamp ?? '', ...ends].toSorted().at(-1) ?? '';
  const scheduled = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (pod && pod.spec.nodeName === undefined && scheduled?.status === 'False')
    return trouble(scheduled.reason ?? 'Unschedulable', '', scheduled.message, since);
  const waiting = containers.find(({ state }) => state?.waiting && !usual.includes(state.waiting.reason ?? ''));
  if (!waiting) return undefined;
  const { reason = '', message } = waiting.state?.waiting ?? {};
  return trouble(reason, `container ${waiting.name}: `, message, since);
}

function trouble(code: string, where: string, message = '', since: string): Trouble {
  return { code, words: oneLine(`${where}${code}: ${message}`).slice(0, 500), since };
}

function whatBroke(
  jobReason: string | undefined,
  pod: Pod | undefined,
  containers: readonly ContainerStatus[],
): JobState {
  const ended = containers.find(({ state }) => state?.terminated && state.terminated.exitCode !== 0);
  const { reason, exitCode, message } = ended?.state?.terminated ?? {};
  const words = ended ? `container ${ended.name} ended with ${exitCode}` : 'its pod says nothing';
  if (containers.some(({ state }) => state?.terminated?.reason === 'OOMKilled'))
    return broke('OutOfMemory', `a container was killed for lack of memory: ${words}`);
  if (pod?.status?.reason === 'Evicted') return broke('Evicted', pod.status.message ?? words);
  if (jobReason === 'DeadlineExceeded') return broke('DeadlineExceeded', 'it was not done within its deadline');
  if (pod === undefined) return broke('PodGone', 'its pod was deleted before it was done');
  const disrupted = pod.status?.conditions?.find(
    ({ type, status }) => type === 'DisruptionTarget' && status === 'True',
  );
  if (disrupted?.reason === 'DeletionByTaintManager' || pod.status?.reason === 'NodeLost')
    return broke('NodeLost', 'the node of its pod does not answer');
  if (disrupted) return broke('Evicted', `${disrupted.reason ?? ''}: ${disrupted.message ?? words}`);
  if (ended?.name === drillContainers.restore)
    return broke('RestoreFailed', `etcdutl does not restore it: ${lastLine(message)}`);
  return broke('AgentBroke', `${words}${reason === undefined ? '' : ` (${reason})`}, without a word of why`);
}

function broke(reason: Extract<JobState, { kind: 'broke' }>['reason'], words: string): JobState {
  return { kind: 'broke', reason, words: oneLine(words).slice(0, 800) };
}

/** Where Go programs say what is wrong. */
function lastLine(message = ''): string {
  return message.trim().split('\n').at(-1)?.slice(0, 500) || 'it says nothing';
}
