import { isDeepStrictEqual } from 'node:util';
import { aborted } from '../../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { labels } from '../../../manifests/render/names.ts';
import { isMarked } from '../../fleet/names.ts';
import { type Kube, resources } from '../../interfaces/kube.ts';
import { listIn } from '../../objects/list-in.ts';
import { sharing } from '../../stepping/sharing.ts';
import { clustersWithoutRoom, takesRoom, wantsToChange } from './room.ts';
import type { ClusterObjects } from './snapshot.ts';

/**
 * The clusters that take the room of one which holds its lease; `undefined`: there is room.
 * @throws {KubeError}
 */
export type RoomNow = (cluster: EtcdCluster, signal: AbortSignal) => Promise<readonly string[] | undefined>;

interface Seen {
  readonly kube: Kube;
  /** Absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  readonly all: readonly ClusterObjects[];
  readonly fleets: readonly EtcdFleet[];
  /** From before all that was read. */
  readonly at: Date;
  /** Of the pass: other steps may wait for the same look. */
  readonly signal: AbortSignal;
}

/**
 * Looks again at the clusters of a fleet. Another invocation that saw more of a commit, or less, may have begun with
 * another one. Each looks after its own lease was written: of two, at least one sees the other.
 */
export function roomNow(seen: Seen): RoomNow {
  const looks = new Map<string, () => Promise<Looked>>();
  return async (cluster, signal) => {
    const fleet = seen.fleets.find((one) => isMarked(one, cluster));
    const { uid = '' } = fleet?.metadata ?? {};
    if (!fleet) return undefined;
    const look = looks.get(uid) ?? sharing(() => lookAt(fleet, seen));
    looks.set(uid, look);
    const { objects, begun } = await Promise.race([look(), aborted(signal).then((): never => throwFrom(signal))]);
    const isOther = (one: ClusterObjects) => one.cluster.metadata.uid !== cluster.metadata.uid;
    const isBusy = (one: ClusterObjects) => takesRoom(one) || (begun.has(one) && isOther(one));
    return clustersWithoutRoom(objects, [fleet], isBusy).get(cluster.metadata.uid ?? '');
  };
}

function throwFrom(signal: AbortSignal): never {
  throw signal.reason;
}

interface Looked {
  /** As they were read, with the EtcdClusters of now. */
  readonly objects: readonly ClusterObjects[];
  /** Those that may have begun since they were read. */
  readonly begun: ReadonlySet<ClusterObjects>;
}

/** @throws {KubeError} */
async function lookAt(fleet: EtcdFleet, { kube, namespaces, all, at, signal }: Seen): Promise<Looked> {
  // Not held by this pass: lists of its own are.
  const apart = kube.bounded();
  const labelSelector = `${labels.fleet}=${fleet.metadata.uid}`;
  const { items } = await listIn<EtcdCluster>(apart, resources.clusters, { namespaces, labelSelector, signal });
  const byUid = new Map(items.map((one) => [one.metadata.uid, one]));
  const leftOut = apart.leftOut();
  const begun = new Set<ClusterObjects>();
  const objects = all.flatMap((one): readonly ClusterObjects[] => {
    if (!isMarked(fleet, one.cluster)) return [];
    const cluster = byUid.get(one.cluster.metadata.uid);
    if (!cluster) return leftOut.has(one.cluster.metadata.namespace ?? '') ? [one] : [];
    // The same object where nothing changed: what was found out about it is known.
    const isSame = cluster.metadata.resourceVersion === one.cluster.metadata.resourceVersion;
    const now = isSame ? one : { ...one, cluster };
    if (mayHaveBegun(one.cluster, cluster, at) && wantsToChange(now)) begun.add(now);
    return [now];
  });
  return { objects, begun };
}

/** A step was under way since, or was reported. What one that died has left before is in what was read. */
function mayHaveBegun(before: EtcdCluster, { status }: EtcdCluster, at: Date): boolean {
  if (status?.step && Date.parse(status.step.deadline) > at.getTime()) return true;
  return !isDeepStrictEqual(status?.history?.at(-1), before.status?.history?.at(-1));
}
