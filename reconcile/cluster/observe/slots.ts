import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { isEtcdId } from '../../../manifests/api/identifiers.ts';
import { byIdentity } from '../../../manifests/by-identity.ts';
import type { ConfigMap, PersistentVolumeClaim, Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { annotations, etcdContainer, ordinalOf, podName } from '../../../manifests/render/names.ts';
import { isControlledBy, isOfItsClaim } from '../../../manifests/render/owner-reference.ts';
import { readVolumeRecord } from '../../../manifests/render/volume-record.ts';
import { type KubeObject, resources } from '../../interfaces/kube.ts';
import { isListed } from '../know/listed.ts';
import { replacingVolume } from '../know/marks.ts';
import type {
  ConfigMapView,
  ContainerView,
  Endpoint,
  PeerView,
  PodView,
  Slot,
  StatefulSetView,
  VolumeView,
} from '../know/observation.ts';
import { mountsOf, sandboxOf } from '../know/pods/mounts.ts';
import { startupOf } from '../know/pods/startup.ts';
import { withoutOutvoted } from '../know/recovery/outvoted.ts';
import { quotaFlagOf } from '../know/space/databases.ts';
import { readDefragmented } from '../know/space/defragmented.ts';
import { growthOf } from '../know/volumes/volume-growth.ts';
import { failingBeside, runOf } from './container-run.ts';
import { isReady, revisionOf, versionOf } from './pods.ts';
import type { ClusterObjects } from './snapshot.ts';

const notAsked: Endpoint = { kind: 'unknown', cause: 'nothing runs there' };

export type MemberObjects = Pick<
  ClusterObjects,
  'cluster' | 'peers' | 'volumeClaims' | 'configMaps' | 'statefulSets' | 'pods'
> &
  Partial<ClusterObjects>;

/** The objects of a cluster joined by the name they share, without what etcd says (that is asked next). */
export const slotsOf = byIdentity((objects: MemberObjects): readonly Slot[] => {
  const { cluster, peers, volumeClaims, configMaps, statefulSets, pods } = objects;
  const clusterName = cluster.metadata.name;
  const clusterUid = cluster.metadata.uid ?? '';
  const marked = (object: KubeObject) => !isListed(object, clusterName) && { unlabelled: true as const };
  const named = [...peers, ...volumeClaims, ...configMaps, ...statefulSets].map(({ metadata }) => metadata.name);
  const ofPods = pods.map(({ metadata }) => metadata.name.replace(/-0$/, ''));
  const ordinals = new Map(
    [...named, ...ofPods].flatMap((name) => {
      const ordinal = ordinalOf(clusterName, name);
      return ordinal === undefined ? [] : [[name, ordinal] as const];
    }),
  );
  const slots = [...ordinals]
    .toSorted(([, a], [, b]) => a - b)
    .map(([name, ordinal]) => {
      const peer = find(peers, name);
      const volume = find(volumeClaims, name);
      const configMap = find(configMaps, name);
      const statefulSet = find(statefulSets, name);
      const pod = find(pods, podName(name));
      const peerUid = peer?.metadata.uid ?? '';
      return {
        name,
        ordinal,
        endpoint: notAsked,
        ...(peer && { peer: { ...peerView(peer, clusterUid), ...marked(peer) } }),
        ...(volume && { volume: { ...volumeView(volume), ...marked(volume) } }),
        ...(configMap && {
          configMap: { ...configMapView(configMap, volume?.metadata.uid ?? '', peerUid), ...marked(configMap) },
        }),
        ...(statefulSet && { statefulSet: { ...statefulSetView(statefulSet, peerUid), ...marked(statefulSet) } }),
        ...(pod && { pod: { ...podView(pod, statefulSet), ...marked(pod) } }),
      };
    });
  return withoutOutvoted(slots);
});

function find<T extends KubeObject>(objects: readonly T[], name: string): T | undefined {
  return objects.find(({ metadata }) => metadata.name === name);
}

function view({ metadata }: KubeObject): { readonly uid: string; readonly leaving: boolean } {
  return { uid: metadata.uid ?? '', leaving: metadata.deletionTimestamp !== undefined };
}

function owned(object: KubeObject, ownerUid: string): Pick<PeerView, 'uid' | 'leaving' | 'current' | 'foreign'> {
  return {
    ...view(object),
    current: isControlledBy(object, ownerUid),
    ...(isForeign(object) && { foreign: true }),
  };
}

/** Whether none of our kinds controls it. A leftover of a deleted resource names that one until it is collected. */
export function isForeign(object: KubeObject): boolean {
  if (isOfItsClaim(object)) return false;
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind !== resources.clusters.kind && owner?.kind !== resources.peers.kind;
}

export function peerView(peer: EtcdPeer, clusterUid: string): PeerView {
  const { version, image, etcd, tls, resources, podTemplate, bootstrap, storage } = peer.spec;
  const mark = peer.metadata.annotations?.[replacingVolume];
  const defragmented = readDefragmented(peer);
  const memberId = peer.status?.memberID;
  return {
    ...owned(peer, clusterUid),
    inputs: {
      version,
      image,
      storage,
      tls,
      ...(etcd && { etcd }),
      ...(resources && { resources }),
      ...(podTemplate && { podTemplate }),
    },
    bootstrap,
    ...(memberId !== undefined && isEtcdId(memberId) && { memberId }),
    ...(mark !== undefined && { replacingVolume: mark }),
    ...(defragmented && { defragmented }),
  };
}

export function volumeView(claim: PersistentVolumeClaim): VolumeView {
  const read = readVolumeRecord(claim.metadata.annotations);
  const { storageClassName, volumeName, resources: wishes } = claim.spec;
  const growing = growthOf(claim);
  return {
    ...view(claim),
    record: read.kind === 'none' ? { kind: 'invalid', problem: 'none of them is there' } : read,
    // The name is set at the moment of binding: after that, something may have been written.
    bound: volumeName !== undefined && volumeName !== '',
    lost: claim.status?.phase === 'Lost',
    size: String(wishes.requests?.storage ?? '0'),
    ...(volumeName && { disk: { pv: volumeName, state: 'unknown', homes: 'unknown' } as const }),
    ...(growing && { growing }),
    ...(storageClassName !== undefined && { storageClassName }),
  };
}

export function configMapView(configMap: ConfigMap, claimUid: string, peerUid: string): ConfigMapView {
  const byPeer = isControlledBy(configMap, peerUid);
  return {
    ...view(configMap),
    current: byPeer || isControlledBy(configMap, claimUid),
    ...(byPeer && { byPeer }),
    ...(isForeign(configMap) && { foreign: true }),
    initialCluster: configMap.data?.ETCD_INITIAL_CLUSTER ?? '',
    initialClusterState: configMap.data?.ETCD_INITIAL_CLUSTER_STATE ?? '',
    immutable: configMap.immutable === true,
  };
}

export function statefulSetView(statefulSet: StatefulSet, peerUid: string): StatefulSetView {
  return {
    ...owned(statefulSet, peerUid),
    inputsHash: statefulSet.metadata.annotations?.[annotations.inputsHash] ?? '',
    updateRevision: hasSeenItsSpec(statefulSet) ? (statefulSet.status?.updateRevision ?? '') : '',
  };
}

function hasSeenItsSpec({ metadata, status }: StatefulSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

export function podView(pod: Pod, statefulSet: StatefulSet | undefined): PodView {
  const conditions = pod.status?.conditions ?? [];
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  const revision = revisionOf(pod);
  const version = versionOf(pod);
  const trust = pod.metadata.annotations?.[annotations.trust];
  const quota = quotaFlagOf(pod);
  const wanted = statefulSet && statefulSetView(statefulSet, '').updateRevision;
  const beside = failingBeside(pod);
  return {
    ...view(pod),
    ready: isReady(pod),
    // The API server's promise: deletion's own time, and the grace period on top.
    ...(pod.metadata.deletionTimestamp !== undefined && { endsBy: new Date(pod.metadata.deletionTimestamp) }),
    upToDate: !wanted ? 'unknown' : revision === wanted ? 'yes' : 'no',
    ...(version !== undefined && { version }),
    ...(pod.status?.podIP && { address: pod.status.podIP }),
    ...(quota !== undefined && { quota }),
    ...(trust !== undefined && { trust }),
    // The condition may be about an earlier pod of that name: the scheduler writes it by name only.
    ...(pod.spec.nodeName === undefined &&
      scheduled?.status === 'False' && { unscheduled: scheduled.reason ?? 'Unschedulable' }),
    createdAt: new Date(pod.metadata.creationTimestamp ?? 0),
    ...(pod.spec.nodeName !== undefined && { node: pod.spec.nodeName }),
    container: containerView(pod),
    ...(pod.status?.phase === 'Failed' && { failed: pod.status.reason ?? 'Failed' }),
    ...(beside && { beside }),
    ...sandboxOf(pod),
    mounts: mountsOf(pod),
  };
}

function containerView({ spec, status: said }: Pod): ContainerView {
  const isEtcd = ({ name }: { readonly name: string }) => name === etcdContainer;
  const status = said?.containerStatuses?.find(isEtcd);
  const container = spec.containers.find(isEtcd);
  const startup = startupOf(container);
  if (!status) return { state: 'unknown', reason: '', everStarted: false, restarts: 0, lastWords: '', ...startup };
  const { state, lastState, restartCount } = status;
  const ended = state?.terminated ?? lastState?.terminated;
  return {
    state: state?.running ? 'running' : state?.terminated ? 'terminated' : state?.waiting ? 'waiting' : 'unknown',
    reason: state?.waiting?.reason ?? state?.terminated?.reason ?? '',
    everStarted: restartCount > 0 || state?.running !== undefined || ended !== undefined,
    restarts: restartCount,
    lastWords: lastLine(ended?.message ?? ''),
    ...comparisonIn(ended?.message ?? ''),
    ...runOf(status, container),
    ...startup,
  };
}

/** What etcd 3.5 to 3.7 log before they exit for it: at which revision their own data were compared. */
function comparisonIn(output: string): Pick<ContainerView, 'comparedAt'> {
  const [, revision] =
    /"msg":"found different hash values from remote peer".*?"local-member-revision":(\d{1,19})\b/.exec(output) ?? [];
  return revision === undefined ? {} : { comparedAt: BigInt(revision) };
}

/** What tells why a Go program ended; its stack follows, often longer than what a pod's status keeps. */
const lastCry = /^(panic|fatal error|unexpected fault address)|"level":"(fatal|panic)"/;

/**
 * One line of a container's last output, short enough for a message; etcd logs JSON, of which `msg` and `error` speak.
 */
export function lastLine(output: string): string {
  const lines = output.trim().split('\n');
  const line = lines.find((one) => lastCry.test(one)) ?? lines.at(-1) ?? '';
  if (/^\s+\S+\.(go|s):\d+/.test(line)) return 'a panic, of which only the stack is left';
  const message = /"msg":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  const error = /"error":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  const words = [message, error].filter((word) => word !== undefined).join(': ');
  // The usage is longer than what a pod's status keeps: the line that names the flag is lost.
  if (words === '' && /^Usage:|grpc-proxy/m.test(output)) return 'its usage, as for a flag that it does not know';
  return (words === '' ? line : words).slice(0, 200);
}
