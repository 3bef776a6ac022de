import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { ConfigMap, PersistentVolumeClaim, Pod, StatefulSet } from '../../../manifests/kube-types.ts';
import { ordinalOf, podName } from '../../../manifests/render/names.ts';
import { isControlledBy } from '../../../manifests/render/owner-reference.ts';
import { readVolumeRecord } from '../../../manifests/render/volume-record.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../interfaces/kube.ts';
import { recordOf } from '../know/life.ts';
import type { Observation } from '../know/observation.ts';
import { nameOf } from '../know/recovery/lost.ts';
import { isUnmanaged } from '../know/unmanaged.ts';
import { isForeign } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

/**
 * Reading by name what the lists lack. They go by labels, and anyone may take a label off: absence from them proves
 * nothing.
 *
 * A cluster that has everything asks for nothing here. A request that fails fails the step: nothing is concluded from
 * it.
 */

/**
 * The objects with what is there under a name that something else of the member bears: what is listed, the last status,
 * and the record of a birth that is under way. Where not one volume is found, all volumes and peers of the namespace
 * are looked through.
 *
 * @throws {KubeError}
 */
export async function withUnlabelled(
  kube: Kube,
  objects: ClusterObjects,
  signal: AbortSignal,
): Promise<ClusterObjects> {
  const found = await withNamed(kube, objects, namesIn(objects), signal);
  // Of a cluster that nothing is done to, nothing is concluded either: a tick over many of those stays cheap.
  if (found.volumeClaims.length > 0 || isUnmanaged(objects.cluster)) return found;
  const searched = await withSearched(kube, found, signal);
  return searched === found ? found : withNamed(kube, searched, namesIn(searched), signal);
}

/** The objects with everything that bears one of these members' names. The same object where nothing more was found. */
export async function withNamed(
  kube: Kube,
  objects: ClusterObjects,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ClusterObjects> {
  const read = await Promise.all(names.map((name) => readMember(kube, objects, name, signal)));
  if (read.every((more) => Object.values(more).every((items) => items.length === 0))) return objects;
  const all = <K extends keyof Found>(kind: K) => [...objects[kind], ...read.flatMap((more) => more[kind])];
  return {
    ...objects,
    peers: all('peers') as readonly EtcdPeer[],
    volumeClaims: all('volumeClaims') as readonly PersistentVolumeClaim[],
    configMaps: all('configMaps') as readonly ConfigMap[],
    statefulSets: all('statefulSets') as readonly StatefulSet[],
    pods: all('pods') as readonly Pod[],
  };
}

/**
 * Members of which nothing was found, by the name that etcd's list has for them. Where no list is to be had, by what
 * the volumes of the others recorded: some of those may have left long ago. A cluster that sleeps is missing nothing.
 */
export function namesMissing({ cluster, slots, membership }: Observation): readonly string[] {
  const records = slots.flatMap((slot) => recordOf(slot) ?? []);
  const listed = membership.kind === 'known' ? membership.members : membership.last;
  const names =
    listed?.map(nameOf) ??
    (records.some(({ state }) => state !== 'hibernating')
      ? records.flatMap(({ initialCluster }) => initialCluster.map(({ name }) => name))
      : []);
  const isMissing = (name: string) =>
    ordinalOf(cluster.metadata.name, name) !== undefined && !slots.some((slot) => slot.name === name);
  return [...new Set(names)].filter(isMissing);
}

type Found = Pick<ClusterObjects, 'peers' | 'volumeClaims' | 'configMaps' | 'statefulSets' | 'pods'>;

function namesIn({ cluster, ...objects }: ClusterObjects): readonly string[] {
  const { peers, volumeClaims, configMaps, statefulSets, pods } = objects;
  const listed = [...peers, ...volumeClaims, ...configMaps, ...statefulSets].map(({ metadata }) => metadata.name);
  const names = [
    ...listed,
    ...pods.map(({ metadata }) => metadata.name.replace(/-0$/, '')),
    ...(cluster.status?.members ?? []).map(({ name }) => name),
    ...volumeClaims.flatMap(recordedAtBirth),
  ];
  return [...new Set(names)].filter((name) => ordinalOf(cluster.metadata.name, name) !== undefined);
}

function recordedAtBirth({ metadata }: PersistentVolumeClaim): readonly string[] {
  const read = readVolumeRecord(metadata.annotations);
  if (read.kind !== 'valid' || read.record.state !== 'bootstrapping') return [];
  return read.record.initialCluster.map(({ name }) => name);
}

async function readMember(kube: Kube, objects: ClusterObjects, name: string, signal: AbortSignal): Promise<Found> {
  const listed = listedOf(objects, name);
  const state = stateOf(listed.volumeClaims[0]);
  // A volume that is kept after its member left stands alone.
  if (state === 'released' || state === 'superseded') return none;
  const { namespace } = objects.cluster.metadata;
  const get = async <T extends KubeObject>(there: readonly T[], resource: Resource, wanted = name): Promise<T[]> => {
    if (there.length > 0) return [];
    const found = await kube.get<T>(resource, namespace, wanted, { signal });
    return found ? [found] : [];
  };
  const isAsleep = state === 'hibernating';
  const [peers, volumeClaims, configMaps, statefulSets] = await Promise.all([
    get<EtcdPeer>(listed.peers, resources.peers),
    get<PersistentVolumeClaim>(listed.volumeClaims, resources.volumeClaims),
    get<ConfigMap>(listed.configMaps, resources.configMaps),
    isAsleep ? [] : get<StatefulSet>(listed.statefulSets, resources.statefulSets),
  ]);
  const ours = {
    peers: peers.filter((found) => !isForeign(found)),
    configMaps: configMaps.filter((found) => !isForeign(found)),
    statefulSets: statefulSets.filter((found) => !isForeign(found)),
  };
  const isKnown = [listed, ours].some((some) => Object.values(some).some((items) => items.length > 0));
  const sets = [...listed.statefulSets, ...ours.statefulSets];
  const pods = sets.length > 0 ? await get<Pod>(listed.pods, resources.pods, podName(name)) : [];
  return {
    ...ours,
    // Under the name of a member, it is what that member's pod mounts, whatever it says. Else it has to say that it is
    // ours.
    volumeClaims: volumeClaims.filter((claim) => isKnown || isRecorded(claim)),
    pods: pods.filter((pod) => sets.some((set) => isOf(set, pod))),
  };
}

const none: Found = { peers: [], volumeClaims: [], configMaps: [], statefulSets: [], pods: [] };

function listedOf(objects: ClusterObjects, name: string): Found {
  const named = <T extends KubeObject>(items: readonly T[], wanted = name) =>
    items.filter(({ metadata }) => metadata.name === wanted);
  return {
    peers: named(objects.peers),
    volumeClaims: named(objects.volumeClaims),
    configMaps: named(objects.configMaps),
    statefulSets: named(objects.statefulSets),
    pods: named(objects.pods, podName(name)),
  };
}

function stateOf(claim: PersistentVolumeClaim | undefined): string | undefined {
  const read = readVolumeRecord(claim?.metadata.annotations);
  return read.kind === 'valid' ? read.record.state : undefined;
}

/** It says itself which member's it is. */
function isRecorded({ metadata }: PersistentVolumeClaim): boolean {
  const read = readVolumeRecord(metadata.annotations);
  return read.kind === 'valid' && read.record.initialCluster.some(({ name }) => name === metadata.name);
}

/** The StatefulSet lets go of a pod that has lost a label that it selects by. The volume still tells whose it is. */
function isOf({ metadata }: StatefulSet, pod: Pod): boolean {
  if (isControlledBy(pod, metadata.uid ?? '')) return true;
  const isOrphan = !pod.metadata.ownerReferences?.some(({ controller }) => controller);
  return (
    isOrphan && (pod.spec.volumes ?? []).some((volume) => volume.persistentVolumeClaim?.claimName === metadata.name)
  );
}

/**
 * A cluster without a volume is born, or lost for good: all volumes that say that they are its own are looked for,
 * labelled or not.
 */
async function withSearched(kube: Kube, objects: ClusterObjects, signal: AbortSignal): Promise<ClusterObjects> {
  const { name, namespace } = objects.cluster.metadata;
  const [claims, peers] = await Promise.all([
    kube.list<PersistentVolumeClaim>(resources.volumeClaims, { namespace, signal }),
    kube.list<EtcdPeer>(resources.peers, { namespace, signal }),
  ]);
  const isMember = ({ metadata }: KubeObject) => ordinalOf(name, metadata.name) !== undefined;
  const known = new Set(objects.peers.map(({ metadata }) => metadata.name));
  const foundClaims = claims.items.filter((claim) => isMember(claim) && isRecorded(claim));
  const foundPeers = peers.items.filter((peer) => isMember(peer) && !known.has(peer.metadata.name) && !isForeign(peer));
  if (foundClaims.length + foundPeers.length === 0) return objects;
  return { ...objects, volumeClaims: foundClaims, peers: [...objects.peers, ...foundPeers] };
}
