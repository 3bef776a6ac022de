import { isDeepStrictEqual } from 'node:util';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { ConfigMap, PersistentVolumeClaim, Pod, Secret, Service } from '../../../manifests/kube-types.ts';
import {
  applicationSecretName,
  backupSecretName,
  gatewaySecretName,
  userSecretName,
} from '../../../manifests/render/certificate-names.ts';
import { labels, podName } from '../../../manifests/render/names.ts';
import { isOfRecovery, readVolumeRecord, type VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeRequest } from '../fakes/kube.ts';
import { type Data, downgraded, skippedMinor, unreadable } from './members.ts';
import { hasQuorum, leaderOf, quorumIn, runningOf, votersOf } from './quorum.ts';
import { isGivenUp } from './restore.ts';
import type { State } from './state.ts';
import { partyOf, whyNotClient, whyNotPeers } from './tls.ts';

/** What must never happen (ARCHITECTURE.md), looked at after every single write and at every start of a container. */

/** I5, at the moment a member opens its disk. */
export function assertMayStart(
  state: State,
  pod: Pod,
  claim: PersistentVolumeClaim,
  before: Data | undefined,
  after: Data,
): void {
  const read = readVolumeRecord(claim.metadata.annotations);
  const volume = claim.metadata.name;
  if (read.kind !== 'valid') {
    violate(state, `I5: ${volume} is written to, and its record is ${read.kind}`);
    return;
  }
  if (!before) {
    const isLearner = state.formations
      .get(after.clusterId)
      ?.members.some((member) => member.id === after.memberId && member.isLearner);
    if (read.record.state !== 'bootstrapping' && !(read.record.state === 'joining' && isLearner))
      violate(state, `I5: ${volume} is ${read.record.state}, and its member starts empty`);
    if (!isLearner && clientsAreLetIn(state, pod.metadata.namespace, pod.metadata.labels?.[labels.cluster])) {
      violate(state, `I5: ${volume} starts empty while clients are let in`);
    }
    const earlier = [...(state.wrote.get(claim.metadata.uid ?? '') ?? [])].find((id) => id !== after.clusterId);
    if (earlier) violate(state, `I5: ${volume} held data of ${earlier} and now begins ${after.clusterId}`);
  }
}

/** I6: a member that can't open its data was given a version that must not; another client may have given it. */
export function assertNoDowngrade(state: State): void {
  const peers = state.kube.stored<EtcdPeer>(resources.peers);
  for (const pod of state.kube.stored<Pod>(resources.pods)) {
    const told = peers.find(({ metadata }) => podName(metadata.name) === pod.metadata.name)?.spec.version;
    const tag = /:v([\d.]+)$/.exec(pod.spec?.containers?.[0]?.image ?? '')?.[1];
    if (told !== undefined && tag !== undefined && tag !== told) continue;
    const words = pod.status?.containerStatuses?.[0]?.lastState?.terminated?.message ?? '';
    for (const last of [downgraded, unreadable, skippedMinor])
      if (words.includes(last)) violate(state, `I6: ${pod.metadata.name} was given a version that says: ${last}`);
  }
}

/** What clients could see: never two clusters behind one Service, and no member behind it that could start empty. */
export function assertOneCluster(state: State): void {
  const formed = [...state.formations].filter(([, { formed }]) => formed).map(([id]) => id);
  const serving = formed.filter((id) => hasQuorum(state, id));
  if (serving.length < 2) return;
  for (const service of state.kube.stored<Service>(resources.services)) {
    const cluster = service.metadata.labels?.[labels.cluster];
    if (cluster === undefined || service.metadata.name !== cluster) continue;
    const holding = serving.filter((id) => holds(state, service.metadata.namespace, cluster, id));
    if (holding.length > 1) violate(state, `two clusters behind Service ${cluster}: ${holding.join(', ')}`);
  }
}

/**
 * Those whom a recovery left behind were a quorum once: as many of them as that, running at one time, would take writes
 * under the same cluster ID.
 */
export function assertOldQuorumStays(state: State): void {
  for (const [clusterId, { forced }] of state.formations) {
    if (!forced) continue;
    const voters = forced.before.filter(({ isLearner }) => !isLearner);
    const back = runningOf(state, clusterId).filter(
      ({ data }) => data.memberId !== forced.by && voters.some(({ id }) => id === data.memberId),
    );
    if (back.length > voters.length / 2)
      violate(state, `two clusters: ${back.map(({ pod }) => pod).join(', ')} are a quorum of before the recovery`);
  }
}

/** What a step has done stays told: a report that comes late takes nothing away. */
export function assertHistoryStays(state: State, before: KubeObject | undefined, after: KubeObject | undefined): void {
  const told = (before as EtcdCluster | undefined)?.status?.history ?? [];
  const kept = (after as EtcdCluster | undefined)?.status?.history ?? [];
  if (told.length > 19) return;
  for (const entry of told) {
    const found = kept.some((other) => isDeepStrictEqual(other, entry));
    if (!found) violate(state, `history: "${entry.reason}" of ${entry.at} is no longer told`);
  }
}

/** I5: who lets clients in has sealed every volume, and every ConfigMap. */
export function assertMayLetIn(state: State, service: KubeObject | undefined): void {
  const cluster = service?.metadata.labels?.[labels.cluster];
  if (cluster === undefined || service?.metadata.name !== cluster) return;
  const ours = ({ metadata }: KubeObject) =>
    metadata.namespace === service.metadata.namespace && metadata.labels?.[labels.cluster] === cluster;
  for (const { metadata, immutable } of state.kube.stored<ConfigMap>(resources.configMaps).filter(ours)) {
    if (!immutable && metadata.labels?.[labels.peer] !== undefined)
      violate(state, `I5: clients are let in while ConfigMap ${metadata.name} is not sealed`);
  }
  const startable = new Set(
    [...state.kube.stored<EtcdPeer>(resources.peers), ...state.kube.stored<ConfigMap>(resources.configMaps)].map(
      ({ metadata }) => metadata.name,
    ),
  );
  for (const { metadata } of state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims).filter(ours)) {
    const read = readVolumeRecord(metadata.annotations);
    // A disk that only a restore put there was never started on: what counts is that a member wrote to it. Without peer
    // and ConfigMap none starts on it again, as after that was deleted by hand: its member counts as lost.
    const mayStart = startable.has(metadata.name) && read.kind === 'valid' && read.record.state === 'bootstrapping';
    if (mayStart && state.wrote.has(metadata.uid ?? '')) {
      violate(state, `I5: clients are let in while ${metadata.name} is not sealed`);
    }
  }
}

/** I1, I4: what a request that took effect has just destroyed. */
export function assertMayDelete(state: State, request: FakeRequest, before: KubeObject | undefined): void {
  if (!before || before.metadata.deletionTimestamp !== undefined) return;
  if (request.resource.plural === 'pods') {
    const pod = before as Pod;
    // One or two members can't lose one and keep their quorum, whatever is done: there it is said, and done.
    const clusterId = [...state.processes.values()][0]?.data.clusterId ?? '';
    const size = state.formations.get(clusterId)?.members.length ?? 0;
    const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (isReady && size > 2 && isServing(state, pod) && !isSparedByOthers(state, clusterId)) {
      violate(state, `I1: ${pod.metadata.name} was Ready and is deleted`);
    }
  }
  if (request.resource.plural !== 'persistentvolumeclaims') return;
  const claim = before as PersistentVolumeClaim;
  const name = claim.metadata.labels?.[labels.cluster];
  const cluster = state.kube
    .stored<EtcdCluster>(resources.clusters)
    .find(({ metadata }) => metadata.name === name && metadata.namespace === claim.metadata.namespace);
  const byPolicy =
    cluster?.metadata.deletionTimestamp !== undefined && cluster.spec.volumeRetention?.whenDeleted === 'Delete';
  const read = readVolumeRecord(claim.metadata.annotations);
  // A rollback is called off: no etcd has opened what was restored.
  const isCalledOff = read.kind === 'valid' && isAheadOfItsStart(read.record) && isUnopened(state, claim);
  if (byPolicy || isCalledOff || wasRemoved(state, claim) || isGivenUp(state, claim.metadata.uid ?? '')) return;
  if (claim.spec.volumeName) violate(state, `I4: bound volume ${claim.metadata.name} of a living cluster is deleted`);
  if (state.disks.has(claim.metadata.uid ?? '')) violate(state, `I4: ${claim.metadata.name} has data and is deleted`);
}

/** Also where its data are there, and are lost before a member of the cluster that it gives up was told. */
function isAheadOfItsStart(record: VolumeRecord): boolean {
  const { state, gaveUp } = record;
  return state === 'restoring' || (state === 'restored' && gaveUp !== undefined && !isOfRecovery(record));
}

function isUnopened({ disks }: State, { metadata }: PersistentVolumeClaim): boolean {
  const data = disks.get(metadata.uid ?? '');
  return !data || data.made !== undefined;
}

/** I4: its member is off the list, and it was us who took it off. */
function wasRemoved(state: State, { metadata }: PersistentVolumeClaim): boolean {
  const read = readVolumeRecord(metadata.annotations);
  if (read.kind !== 'valid' || read.record.state !== 'released') return false;
  const { clusterId = '', memberId = '' } = read.record;
  const data = state.disks.get(metadata.uid ?? '');
  const isOfAnother = data !== undefined && data.memberId !== memberId;
  return !isOfAnother && state.formations.get(clusterId)?.removed.has(memberId) === true;
}

/** Also by eviction: clients' writes would wait for an election, though somebody else could have led before. */
export function assertLeadsNobody(state: State, before: KubeObject | undefined): void {
  const pod = before as Pod | undefined;
  const isReady = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (!pod || !isReady || pod.metadata.deletionTimestamp !== undefined) return;
  if (isServing(state, pod) && leadsOthers(state, pod)) violate(state, `${pod.metadata.name} goes while it leads`);
}

/** Whether it leads, and somebody else could. */
function leadsOthers(state: State, { metadata }: Pod): boolean {
  const process = state.processes.get(metadata.uid ?? '');
  if (!process) return false;
  const { clusterId, memberId } = process.data;
  const voters = votersOf(state, clusterId);
  const able = quorumIn(state, clusterId).filter(({ data }) => voters.has(data.memberId));
  return able.length > 1 && leaderOf(state, clusterId)?.data.memberId === memberId;
}

/** What bears this is somebody else's: whatever name and labels it has. */
export const theirs = 'world/theirs';

export function assertNotTheirs(state: State, request: FakeRequest, before: KubeObject | undefined): void {
  if (before?.metadata.annotations?.[theirs] === undefined) return;
  violate(state, `${request.key}: ${before.metadata.name} is somebody else's`);
}

/** Clients that read their Secret now, by the name of that. */
const readers = {
  'whoever reads its Secret now': applicationSecretName,
  "a client of etcd's gateway that reads its Secret now": gatewaySecretName,
  'a backup that mounts its Secret now': backupSecretName,
  'a user of etcd that reads its Secret now': (cluster: string) => userSecretName(cluster, watchedUser),
} as const;

/** Whose certificate is looked at where the spec lists it. */
export const watchedUser = 'reader';

/**
 * While nothing was broken on purpose: any two members that run can talk, and so can every application, with the
 * certificate and the CAs that it once read; and never are two members down at once.
 */
export function assertEverybodyTalks(state: State): void {
  const running = [...state.processes.values()];
  const short = (pod: string) => pod.split('/')[1];
  for (const [index, a] of running.entries()) {
    for (const b of running.slice(index + 1)) {
      const why = a.data.clusterId === b.data.clusterId ? whyNotPeers(state, a, b) : undefined;
      if (why !== undefined) violate(state, `TLS: ${short(a.pod)} and ${short(b.pod)} cannot talk: ${why}`);
    }
    const fresh = Object.entries(readers).flatMap(([who, nameOf]) => {
      const client = applicationOf(state, a.pod.split('/')[0], a.cluster, nameOf);
      return client ? [[who, client] as const] : [];
    });
    for (const [who, client] of [...state.clients, ...fresh]) {
      const why = whyNotClient(state, a, client);
      if (why !== undefined) violate(state, `TLS: ${who} cannot talk to ${short(a.pod)}: ${why}`);
    }
  }
  for (const { members } of state.formations.values()) {
    if (running.length < members.length - 1)
      violate(state, `I1: only ${running.length} of ${members.length} members run`);
  }
}

/** Beside members of another origin the disruption budget refuses every eviction; then every voter must run. */
function isSparedByOthers(state: State, clusterId: string): boolean {
  const others = state.formations.get(clusterId)?.others ?? [];
  const voters = votersOf(state, clusterId);
  const running = new Set(runningOf(state, clusterId).map(({ data }) => data.memberId));
  return others.some((id) => voters.has(id)) && [...voters].every((id) => running.has(id));
}

/** Whether whoever reads his Secret now can open a connection to this member: what nobody can reach, nobody loses. */
function isServing(state: State, { metadata }: Pod): boolean {
  const process = state.processes.get(metadata.uid ?? '');
  const fresh = process && applicationOf(state, metadata.namespace, process.cluster);
  return !process || !fresh || whyNotClient(state, process, fresh) === undefined;
}

function applicationOf(state: State, namespace: string | undefined, cluster: string, nameOf = applicationSecretName) {
  const secret = state.kube
    .stored<Secret>(resources.secrets)
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name === nameOf(cluster));
  return secret?.data && partyOf(state, secret.data);
}

/** I5: nothing that is sealed is ever unsealed. */
export function assertSeals(state: State): void {
  const configMaps = state.kube.stored<ConfigMap>(resources.configMaps);
  for (const claim of state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims)) {
    const read = readVolumeRecord(claim.metadata.annotations);
    const configMap = configMaps.find(({ metadata }) => metadata.name === claim.metadata.name);
    // A PVC that arrived late unseals nothing: no member may be started on it.
    if (read.kind !== 'valid' || !read.record.mayHaveStarted || !configMap?.immutable) continue;
    if (claim.metadata.uid === configMap.metadata.ownerReferences?.[0]?.uid)
      violate(state, `I5: ${claim.metadata.name} is bootstrapping beside a sealed ConfigMap`);
  }
}

function holds(state: State, namespace: string | undefined, cluster: string, clusterId: string): boolean {
  return state.kube
    .stored<PersistentVolumeClaim>(resources.volumeClaims)
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.[labels.cluster] === cluster)
    .some(({ metadata }) => state.disks.get(metadata.uid ?? '')?.clusterId === clusterId);
}

function clientsAreLetIn(state: State, namespace: string | undefined, cluster: string | undefined): boolean {
  return state.kube
    .stored<Service>(resources.services)
    .some(
      ({ metadata }) =>
        metadata.name === cluster && metadata.namespace === namespace && metadata.labels?.[labels.cluster] === cluster,
    );
}

export function violate(state: State, what: string): void {
  if (!state.violations.includes(what)) state.violations.push(what);
}
