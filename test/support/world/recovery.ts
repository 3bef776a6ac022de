import type { Job, PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import { annotations, labels, recoveryContainers } from '../../../manifests/render/names.ts';
import { beginsLife } from '../../../manifests/render/new-life.ts';
import { readVolumeRecord } from '../../../manifests/render/volume-record.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { diskLogText, unreadableText } from '../../../reconcile/jobs/disk-log.ts';
import { grace } from './controllers.ts';
import type { Data } from './members.ts';
import { beginLife } from './restore.ts';
import { claimOf, put, type State } from './state.ts';

/** Jobs of members: Kubernetes' part. And recoveries: what etcd does that is told to go on alone. */

/** A pod that reads the log on a member's disk. */
export function isLog({ metadata }: Pod): boolean {
  return metadata.labels?.[labels.name] === 'etcd-log';
}

/** Its container has ended a step of the world after it got its node. */
export function runLogs(state: State): void {
  for (const pod of state.kube.stored<Pod>(resources.pods).filter(isLog)) {
    if (pod.spec.nodeName === undefined || pod.status?.phase !== 'Pending') continue;
    const claim = claimOf(pod, state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims));
    const data = state.disks.get(claim?.metadata.uid ?? '');
    const message = data ? diskLogText(logOn(data)) : unreadableText('there is no log');
    const exitCode = data ? 0 : 1;
    put(state, resources.pods, pod, {
      ...pod,
      status: {
        phase: data ? ('Succeeded' as const) : ('Failed' as const),
        containerStatuses: [
          { name: 'read-log', ready: false, restartCount: 0, state: { terminated: { exitCode, message } } },
        ],
      },
    });
  }
}

function logOn({ clusterId, memberId, applied }: Data) {
  const index = BigInt(100 + applied);
  return {
    ...{ clusterId, memberId, term: 2n, vote: 0n },
    ...{ commit: index, lastTerm: 2n, lastIndex: index, consistentIndex: index },
  };
}

export function isRecovery({ metadata }: Pod): boolean {
  return metadata.labels?.[labels.name] === 'etcd-recovery';
}

/** One pod for each Job, and no second one: `backoffLimit` is 0. */
export function runJobs(state: State): void {
  const pods = state.kube.stored<Pod>(resources.pods);
  for (const job of state.kube.stored<Job>(resources.jobs)) {
    const { name, namespace, uid = '', deletionTimestamp } = job.metadata;
    if (deletionTimestamp !== undefined) continue;
    const pod = pods.find(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
    const isOver = job.status?.conditions?.some(({ type }) => type === 'Failed' || type === 'Complete');
    if (pod?.status?.phase === 'Failed' || (!pod && job.status?.active === 1)) {
      if (!isOver)
        put(state, resources.jobs, job, { ...job, status: { conditions: [{ type: 'Failed', status: 'True' }] } });
    } else if (pod?.status?.phase === 'Succeeded') {
      if (!isOver)
        put(state, resources.jobs, job, { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    } else if (!pod && !isOver) {
      put<Pod>(state, resources.pods, undefined, {
        metadata: {
          name: `${name}-x${uid.slice(-4)}`,
          ...(namespace !== undefined && { namespace }),
          labels: { ...job.spec.template.metadata?.labels, 'batch.kubernetes.io/job-name': name },
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
          finalizers: [grace],
        },
        spec: job.spec.template.spec,
        status: { phase: 'Pending' },
      });
      put(state, resources.jobs, job, { ...job, status: { active: 1 } });
    }
  }
}

/** Init container and etcd, in one step of the world; Ready in the next. */
export function runRecoveries(state: State): void {
  for (const pod of state.kube.stored<Pod>(resources.pods).filter(isRecovery)) {
    if (pod.metadata.deletionTimestamp !== undefined || pod.spec.nodeName === undefined) continue;
    if (pod.status?.phase === 'Pending') start(state, pod);
    else if (pod.status?.phase === 'Running' && beginsLife({ spec: { template: pod } })) begin(state, pod);
    else if (pod.status?.phase === 'Running') say(state, pod, { ready: true });
  }
}

function start(state: State, pod: Pod): void {
  const claim = claimOf(pod, state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims));
  const uid = claim?.metadata.uid ?? '';
  const data = state.disks.get(uid);
  const formation = state.formations.get(data?.clusterId ?? '');
  const [recovery = '', attempt = ''] = attemptIn(pod);
  const ran = [...(state.attempts.get(uid) ?? [])].map((text) => text.split('/'));
  if (ran.some(([id, number]) => id === recovery && Number(number) >= Number(attempt))) {
    fail(state, pod, 4);
    return;
  }
  if (!claim || !data || !formation) {
    fail(state, pod, 5);
    return;
  }
  const opened = [...state.processes.values()].some((process) => process.data === data);
  if (opened) violate(state, `${pod.metadata.name} opens the data that its member has open`);
  const read = readVolumeRecord(claim.metadata.annotations);
  if (read.kind !== 'valid' || read.record.state !== 'recovering')
    violate(
      state,
      `${claim.metadata.name} is forced although it is ${read.kind === 'valid' ? read.record.state : read.kind}`,
    );
  state.attempts.set(uid, new Set([...(state.attempts.get(uid) ?? []), `${recovery}/${attempt}`]));
  if (!beginsLife({ spec: { template: pod } })) force(state, data.clusterId, data.memberId, data.applied);
  say(state, pod, { ready: false });
}

/** Which recovery it is of, and its number, as its first container of ours is told it. */
function attemptIn({ spec: { initContainers = [] } }: Pod): readonly (string | undefined)[] {
  const args = initContainers.find(({ name }) => name === recoveryContainers.setAside)?.args;
  if (args)
    return ['--recovery=', '--attempt='].map((flag) => args.find((arg) => arg.startsWith(flag))?.slice(flag.length));
  const copy = initContainers.find(({ name }) => name === recoveryContainers.copy);
  const request = copy?.env?.find(({ name }) => name === 'RATCHET_BACKUP_REQUEST')?.value ?? '{}';
  const { restorer } = JSON.parse(request) as { readonly restorer?: { readonly id: string; readonly attempt: number } };
  return [restorer?.id, restorer && String(restorer.attempt)];
}

/** Its containers have ended: what was made of the copy has the name of the data. */
function begin(state: State, pod: Pod): void {
  const claim = claimOf(pod, state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims));
  const uid = claim?.metadata.uid ?? '';
  const data = state.disks.get(uid);
  if (data) beginLife(state, pod, uid, data);
  put(state, resources.pods, pod, { ...pod, status: { phase: data ? ('Succeeded' as const) : ('Failed' as const) } });
}

/** It forgets all others. What it does not have, nobody has any more. */
function force(state: State, clusterId: string, memberId: string, applied: number): void {
  const formation = state.formations.get(clusterId);
  const me = formation?.members.find(({ id }) => id === memberId);
  if (!formation || !me) return;
  const others = formation.members.filter(({ id }) => id !== memberId);
  formation.forced ??= { by: memberId, before: formation.members };
  formation.members = [{ ...me, isLearner: false }];
  for (const { id } of others) {
    formation.removed.add(id);
    formation.published.delete(id);
  }
  formation.leader = memberId;
  formation.acknowledged = applied;
}

function fail(state: State, pod: Pod, exitCode: number): void {
  put(state, resources.pods, pod, {
    ...pod,
    status: {
      phase: 'Failed' as const,
      initContainerStatuses: [
        { name: 'set-aside', ready: false, restartCount: 0, state: { terminated: { exitCode, message: 'no' } } },
      ],
    },
  });
}

function say(state: State, pod: Pod, { ready }: { readonly ready: boolean }): void {
  put(state, resources.pods, pod, {
    ...pod,
    status: {
      phase: 'Running' as const,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'etcd', ready, restartCount: 0, state: { running: {} } }],
    },
  });
}

function violate(state: State, what: string): void {
  if (!state.violations.includes(what)) state.violations.push(what);
}

/** At the moment a member opens its disk: no pod of a recovery has it open still. */
export function assertNotForced(state: State, claim: PersistentVolumeClaim): void {
  const pods = state.kube
    .stored<Pod>(resources.pods)
    .filter((pod) => isRecovery(pod) && pod.status?.phase === 'Running');
  if (pods.some((pod) => claimOf(pod, [claim]) !== undefined))
    violate(state, `${claim.metadata.name} is opened while its recovery has it open`);
}

/** The approval that the cluster's status asks for. */
export function approvalIn(message: string): string | undefined {
  return new RegExp(`${annotations.recoverQuorum}=(\\S+)$`).exec(message)?.[1];
}
