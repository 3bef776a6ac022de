import type { ConfigMap, ContainerStatus, PersistentVolumeClaim, Pod } from '../../../manifests/kube-types.ts';
import { labels } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { grace } from './controllers.ts';
import { differsFromOthers } from './corruption.ts';
import { warnOf } from './events.ts';
import { assertMayStart } from './invariants.ts';
import { type Data, type Living, minorOf, type Running, start } from './members.ts';
import { hasQuorum, isInQuorum, runningOf } from './quorum.ts';
import { assertNotForced, isLog, isRecovery } from './recovery.ts';
import { isRestore } from './restore.ts';
import { claimOf, drop, put, type State } from './state.ts';
import { loadTls, refreshFiles } from './tls.ts';

/**
 * The kubelet: starts containers with the variables that their ConfigMaps have at that moment, and says how they are.
 */
export function runPods(state: State): void {
  const pods = state.kube.stored<Pod>(resources.pods);
  const alive = new Set(pods.map(({ metadata }) => metadata.uid));
  for (const uid of state.processes.keys()) if (!alive.has(uid)) state.processes.delete(uid);
  refreshFiles(state);
  for (const pod of pods) runPod(state, pod);
}

function runPod(state: State, pod: Pod): void {
  const { processes } = state;
  const { uid = '', deletionTimestamp, finalizers = [] } = pod.metadata;
  // Its kubelet is gone, with the node: nobody says what became of it, and nobody lets it go.
  if (state.deadNodes.has(pod.spec.nodeName ?? '')) return;
  if (deletionTimestamp !== undefined) {
    processes.delete(uid);
    if (finalizers.includes(grace)) drop(state, resources.pods, pod);
    return;
  }
  if (pod.spec.nodeName === undefined || isRecovery(pod) || isRestore(pod) || isLog(pod)) return;
  const process = processes.get(uid);
  if (!process) {
    say(state, pod, heldContainer(state, pod) ?? startContainer(state, pod));
    return;
  }
  const isReady = isInQuorum(state, process) && !state.formations.get(process.data.clusterId)?.corrupt?.size;
  const before = statusOf(pod);
  say(state, pod, {
    ...before,
    ready: isReady,
    state: { running: before.state?.running ?? { startedAt: timeOf(state) } },
  });
}

/** Of a pod in which no etcd answers, for a cause from outside. */
function heldContainer(state: State, pod: Pod): ContainerStatus | undefined {
  const by = state.heldUp.by(pod);
  if (by === undefined) return undefined;
  const before = statusOf(pod);
  if (by !== 'Loading') {
    warnOf(state, 'Pod', pod, by, 'MountVolume.MountDevice failed for volume "data" : wrong fs type, bad superblock');
    return waits(before, 'ContainerCreating');
  }
  return { ...before, ready: false, state: { running: before.state?.running ?? { startedAt: timeOf(state) } } };
}

/** metav1.Time: whole seconds. */
function timeOf({ clock }: State): string {
  return `${new Date(clock()).toISOString().slice(0, 19)}Z`;
}

/** What becomes of a container that is to start. */
function startContainer(state: State, pod: Pod): ContainerStatus {
  const { kube, disks, processes } = state;
  const { uid = '', namespace, name } = pod.metadata;
  const container = pod.spec.containers.find((candidate) => candidate.name === 'etcd');
  const image = container?.image ?? '';
  const before = statusOf(pod);
  if (!state.images.has(image)) return waits(before, before.state?.waiting ? 'ImagePullBackOff' : 'ErrImagePull');
  const claim = claimOf(pod, kube.stored<PersistentVolumeClaim>(resources.volumeClaims));
  const variables = variablesOf(state, pod);
  if (!claim || !variables) return waits(before, 'CreateContainerConfigError');
  const loaded = loadTls(state, pod);
  if (loaded.kind === 'unmounted') {
    warnOf(state, 'Pod', pod, 'FailedMount', 'MountVolume.SetUp failed: a Secret or ConfigMap was not found');
    return waits(before, 'ContainerCreating');
  }

  const flags = new Map((container?.args ?? []).map((arg) => arg.replace(/^--/, '').split('=', 2) as [string, string]));
  const version = /:v?(\d+\.\d+\.\d+)/.exec(image)?.[1] ?? '0.0.0';
  const claimUid = claim.metadata.uid ?? '';
  const data = disks.get(claimUid);
  const token = flags.get('initial-cluster-token') ?? '';
  const formation = state.formations.get(data?.clusterId ?? '');
  const parameters = { name: flags.get('name') ?? '', token, version, formation, ...variables };
  const started = start(parameters, data, (urls) => livingAt(state, urls));
  if (state.deadly.is(pod)) return exited(before, 'Killed');
  if (started.kind === 'exits') return exited(before, started.words);
  if (loaded.kind === 'exits') return exited(before, loaded.words);
  if (isRemoved(state, started.data)) return exited(before, 'the member has been permanently removed from the cluster');

  if (data && differsFromOthers(state, started.data))
    return exited(before, `discovery failed: ${started.data.memberId} found data inconsistency with peers`);

  assertMayStart(state, pod, claim, data, started.data);
  assertNotForced(state, claim);
  disks.set(claimUid, started.data);
  remember(state, claimUid, started);
  state.addresses += 1;
  const address = `10.244.${Math.floor(state.addresses / 250)}.${(state.addresses % 250) + 1}`;
  processes.set(uid, {
    pod: `${namespace}/${name}`,
    cluster: pod.metadata.labels?.[labels.cluster] ?? '',
    data: started.data,
    address,
    version,
    snapshotCount: Number(flags.get('snapshot-count') ?? (minorOf(version) < 6 ? 100_000 : 10_000)),
    served: false,
    ...(loaded.kind === 'loaded' && { tls: loaded.tls }),
  });
  state.starts.set(name, (state.starts.get(name) ?? 0) + 1);
  return { ...before, ready: false, state: { running: { startedAt: timeOf(state) } } };
}

function remember({ formations, wrote }: State, claimUid: string, { data, voters }: Running): void {
  wrote.set(claimUid, new Set([...(wrote.get(claimUid) ?? []), data.clusterId]));
  if (voters.length === 0) return;
  if (!formations.has(data.clusterId)) {
    const fresh = { removed: new Set<string>(), published: new Map<string, string>(), acknowledged: 0, changes: 0 };
    const versions = { arriving: 0, ancient: 0 };
    formations.set(data.clusterId, { members: voters, formed: false, ...fresh, ...versions });
  }
}

/** A member that runs at one of those peer URLs tells the members of its cluster. */
function livingAt(state: State, urls: readonly string[]): Living | undefined {
  for (const [clusterId, { members, version }] of state.formations) {
    const there = new Set(members.filter(({ url }) => urls.includes(url)).map(({ id }) => id));
    if (runningOf(state, clusterId).some(({ data }) => there.has(data.memberId)))
      return { clusterId, members, version };
  }
  return undefined;
}

/** It learns that from the others, if they have a quorum. */
function isRemoved(state: State, { clusterId, memberId }: Data): boolean {
  return hasQuorum(state, clusterId) && state.formations.get(clusterId)?.removed.has(memberId) === true;
}

function waits(before: ContainerStatus, reason: string): ContainerStatus {
  return { ...before, ready: false, state: { waiting: { reason } } };
}

function variablesOf(state: State, pod: Pod): { initialCluster: string; initialClusterState: string } | undefined {
  const env = pod.spec.containers.find(({ name }) => name === 'etcd')?.env ?? [];
  const configMaps = state.kube.stored<ConfigMap>(resources.configMaps);
  const read = (variable: string) => {
    const ref = env.find(({ name }) => name === variable)?.valueFrom?.configMapKeyRef;
    const found = configMaps.find(
      ({ metadata }) => metadata.name === ref?.name && metadata.namespace === pod.metadata.namespace,
    );
    return found?.data?.[ref?.key ?? ''];
  };
  const initialCluster = read('ETCD_INITIAL_CLUSTER');
  const initialClusterState = read('ETCD_INITIAL_CLUSTER_STATE');
  if (initialCluster === undefined || initialClusterState === undefined) return undefined;
  return { initialCluster, initialClusterState };
}

function statusOf(pod: Pod): ContainerStatus {
  return pod.status?.containerStatuses?.[0] ?? { name: 'etcd', ready: false, restartCount: 0 };
}

/** It ran, ended, and the next start is a restart; more than a few mean waiting. */
function exited(before: ContainerStatus, message: string): ContainerStatus {
  const ended = { terminated: { exitCode: 1, reason: 'Error', message } };
  const again = before.lastState?.terminated !== undefined || before.state?.terminated !== undefined;
  const restartCount = again ? Math.min(before.restartCount + 1, 9) : before.restartCount;
  const state = again ? { waiting: { reason: 'CrashLoopBackOff' } } : ended;
  return { ...before, ready: false, restartCount, state, lastState: ended };
}

function say(state: State, pod: Pod, container: ContainerStatus): void {
  const address = state.processes.get(pod.metadata.uid ?? '')?.address;
  const conditions = [
    pod.status?.conditions?.find(({ type }) => type === 'PodScheduled') ?? { type: 'PodScheduled', status: 'True' },
    {
      type: 'PodReadyToStartContainers',
      status: container.state?.waiting?.reason === 'ContainerCreating' ? 'False' : 'True',
    },
    { type: 'Ready', status: container.ready ? 'True' : 'False' },
  ];
  put(state, resources.pods, pod, {
    ...pod,
    status: {
      phase: container.state?.running ? ('Running' as const) : ('Pending' as const),
      conditions,
      containerStatuses: [container],
      ...(address !== undefined && { podIP: address }),
    },
  });
}
