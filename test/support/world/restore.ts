import type { ContainerStatus, PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { hasTrial, restoreContainers } from '../../../manifests/render/restore-job.ts';
import { isAspirant, readVolumeRecord, type VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeRequest } from '../fakes/kube.ts';
import { aloneIn, type Data, type Member } from './members.ts';
import { claimOf, type Formation, put, type State, type TrialEnd } from './state.ts';

/** Jobs that restore a snapshot: what they leave on the disk, and what must never happen where they do. */

export function isRestore({ metadata }: Pod): boolean {
  return metadata.labels?.[labels.name] === 'etcd-restore';
}

/** How many writes every snapshot of the world holds: more than a cluster of a test has. */
export const writesInSnapshot = 100_000;

/** Its containers run in one step of the world; what they leave gets its name in the next. */
export function runRestores(state: State): void {
  for (const pod of state.kube.stored<Pod>(resources.pods).filter(isRestore)) {
    if (pod.metadata.deletionTimestamp !== undefined || pod.spec.nodeName === undefined) continue;
    if (pod.status?.phase === 'Pending') say(state, pod, 'Running');
    else if (pod.status?.phase === 'Running' && serves(state, pod)) place(state, pod);
  }
}

/** An etcd on a copy, before the data get their name. Of a pod without it there is nothing to see. */
function serves(state: State, pod: Pod): boolean {
  if (!hasTrial({ spec: { template: pod } })) return true;
  const end = state.trials.end(pod);
  const uid = claimOf(pod, state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims))?.metadata.uid ?? '';
  state.tried.delete(uid);
  if (end === 'serves') state.tried.add(uid);
  else put(state, resources.pods, pod, { ...pod, status: { ...pod.status, ...endings[end] } });
  return end === 'serves';
}

const noRoom = { ok: false, reason: 'NoRoomForTrial', message: 'a copy needs 300 MiB, and 200 MiB are free' };

function ended(name: string, exitCode: number, message: string): ContainerStatus {
  return { name, ready: false, restartCount: 0, state: { terminated: { exitCode, reason: 'Error', message } } };
}

const lastWords = '{"level":"panic","msg":"invalid database"}';

const endings: Readonly<Record<Exclude<TrialEnd, 'serves'>, Pod['status']>> = {
  dies: { phase: 'Failed' },
  'has no room': {
    phase: 'Failed',
    initContainerStatuses: [ended(restoreContainers.copy, 3, JSON.stringify(noRoom))],
  },
  // Kubelet starts it again, and the agent waits for it.
  exits: {
    phase: 'Running',
    initContainerStatuses: [
      {
        ...ended(restoreContainers.trial, 2, lastWords),
        restartCount: 1,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 2, reason: 'Error', message: lastWords } },
      },
    ],
  },
};

function place(state: State, pod: Pod): void {
  const claim = claimOf(pod, state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims));
  const order = orderOf(state, pod);
  const uid = claim?.metadata.uid ?? '';
  const there = state.disks.get(uid);
  if (!claim || !order || (there && !isEarlier(there.made, order))) {
    say(state, pod, 'Failed');
    return;
  }
  const read = readVolumeRecord(claim.metadata.annotations);
  if (read.kind !== 'valid' || read.record.state !== 'restoring')
    violate(state, `I11: a snapshot is restored to ${claim.metadata.name}, which does not ask for it`);
  const { name, url, token, attempt, version, bump } = order;
  const { clusterId, member } = aloneIn({ url, token });
  if (state.formations.get(clusterId)?.formed)
    violate(state, `I11: ${name} is restored once more, and its cluster has served`);
  const made = `${token}/${attempt}`;
  const held = { snapshot: writesInSnapshot, applied: writesInSnapshot };
  state.disks.set(uid, { clusterId, memberId: member.id, version, ...held, made });
  state.wrote.set(uid, new Set([...(state.wrote.get(uid) ?? []), clusterId]));
  const compacted = writesInSnapshot + bump;
  state.formations.set(clusterId, alone(member, { acknowledged: writesInSnapshot, ahead: bump, compacted }));
  state.changes += 1;
  say(state, pod, 'Succeeded');
}

/**
 * A recovery makes a new life of a copy of what is on the disk: what there was stays beside it, under another name.
 * Another attempt begins with that, since no etcd has opened what the one before made.
 */
export function beginLife(state: State, pod: Pod, uid: string, data: Data): void {
  const order = orderOf(state, pod);
  if (!order) return;
  const original = data.madeOf ?? data;
  const { url, token, attempt, version, bump } = order;
  const { clusterId, member } = aloneIn({ url, token });
  const { applied } = original;
  const ahead = (state.formations.get(original.clusterId)?.ahead ?? 0) + bump;
  const held = { snapshot: applied, applied };
  state.disks.set(uid, {
    ...{ clusterId, memberId: member.id, version, ...held, made: `${token}/${attempt}`, madeOf: original },
  });
  state.wrote.set(uid, new Set([...(state.wrote.get(uid) ?? []), clusterId]));
  const auth = state.formations.get(original.clusterId)?.auth;
  const began = { acknowledged: applied, ahead, compacted: applied + ahead };
  state.formations.set(clusterId, alone(member, { ...began, ...(auth && { auth }) }));
  state.changes += 1;
}

function alone(member: Member, began: Pick<Formation, 'acknowledged' | 'ahead' | 'compacted' | 'auth'>): Formation {
  return {
    members: [member],
    formed: false,
    removed: new Set(),
    published: new Map(),
    ...began,
    changes: 0,
    arriving: 0,
    ancient: 0,
  };
}

interface Order {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly attempt: number;
  readonly version: string;
  readonly bump: number;
}

/** As etcdutl is told it, and the number of its Job. */
function orderOf({ kube }: State, { metadata, spec }: Pod): Order | undefined {
  const etcdutl = spec.initContainers?.find(({ name }) => name === restoreContainers.restore);
  const flags = new Map((etcdutl?.args ?? []).map((arg) => arg.split('=', 2) as [string, string]));
  const job = kube.stored(resources.jobs).find(({ metadata: { uid } }) => uid === metadata.ownerReferences?.[0]?.uid);
  const number = job?.metadata.annotations?.[annotations.recovery]?.split('/')[1];
  const [name, token] = [flags.get('--name'), flags.get('--initial-cluster-token')];
  const url = flags.get('--initial-advertise-peer-urls');
  if (name === undefined || token === undefined || url === undefined || number === undefined) return undefined;
  const version = /:v?(\d+\.\d+\.\d+)/.exec(etcdutl?.image ?? '')?.[1] ?? '0.0.0';
  return { name, url, token, attempt: Number(number), version, bump: Number(flags.get('--bump-revision')) };
}

/** Of an attempt of the same birth before this one, and no etcd has opened it: its mark is beside it. */
function isEarlier(made: string | undefined, { token, attempt }: Order): boolean {
  const [of, number] = made?.split('/') ?? [];
  return of === token && Number(number) < attempt;
}

function say(state: State, pod: Pod, phase: 'Running' | 'Succeeded' | 'Failed'): void {
  const ended = { exitCode: phase === 'Succeeded' ? 0 : 3, reason: phase === 'Succeeded' ? 'Completed' : 'Error' };
  const container: ContainerStatus = {
    name: restoreContainers.place,
    ready: false,
    restartCount: 0,
    state: phase === 'Running' ? { running: {} } : { terminated: ended },
  };
  put(state, resources.pods, pod, { ...pod, status: { phase, containerStatuses: [container] } });
}

/**
 * I11, at every moment: of a cluster that was given up, and of the one that took its place, no two members run at the
 * same time.
 */
export function assertNotBeside(state: State): void {
  const running = new Set([...state.processes.values()].map(({ data }) => data.clusterId));
  for (const { metadata } of state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims)) {
    const read = readVolumeRecord(metadata.annotations);
    const gaveUp = read.kind === 'valid' ? (read.record.gaveUp ?? []) : [];
    const data = state.disks.get(metadata.uid ?? '');
    const former = gaveUp.find((id) => running.has(id));
    if (data && former !== undefined && running.has(data.clusterId))
      violate(state, `I11: members of ${former}, which was given up, run beside those of ${data.clusterId}`);
  }
}

/** I11: nothing of a cluster that serves is stopped before the data are there that take its place. */
export function assertDataFirst(state: State, { key }: FakeRequest, before: KubeObject | undefined): void {
  if (key !== 'DELETE statefulsets' || !before) return;
  const pod = state.kube
    .stored<Pod>(resources.pods)
    .find(({ metadata }) => metadata.name === `${before.metadata.name}-0`);
  const isReady = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  const isAwaited = state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims).some(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    return read.kind === 'valid' && isAspirant(read.record);
  });
  assertTried(state, before.metadata.name);
  if (isReady && isAwaited) violate(state, `I11: ${before.metadata.name} is stopped while its snapshot is restored`);
}

/** I11: nothing of the cluster that is given up ends before an etcd has served what takes its place, or a waiver. */
function assertTried(state: State, stopped: string): void {
  for (const { metadata } of state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims)) {
    const read = readVolumeRecord(metadata.annotations);
    if (read.kind !== 'valid' || read.record.state !== 'restored' || !read.record.gaveUp) continue;
    if (stopped === metadata.name || isNoRollback(read.record) || state.tried.has(metadata.uid ?? '')) continue;
    violate(state, `I11: ${stopped} is stopped for the data of ${metadata.name}, which no etcd has served`);
  }
}

/** A person went without a trial, or it is what was left of a cluster that had ended. */
function isNoRollback({ trial }: VolumeRecord): boolean {
  return trial === 'waived' || trial === 'recovered';
}

/** Whether a rollback gave up the cluster whose data are on this disk, and what took its place has served. */
export function isGivenUp(state: State, uid: string): boolean {
  const clusterId = state.disks.get(uid)?.clusterId;
  if (clusterId === undefined) return false;
  return state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims).some(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    const isTheNext = read.kind === 'valid' && read.record.gaveUp?.includes(clusterId) === true;
    return isTheNext && state.formations.get(state.disks.get(metadata.uid ?? '')?.clusterId ?? '')?.formed === true;
  });
}

function violate(state: State, what: string): void {
  if (!state.violations.includes(what)) state.violations.push(what);
}
