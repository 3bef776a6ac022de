import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { labels } from '../../../manifests/render/names.ts';
import { ownerOf } from '../../fleet/names.ts';
import { type Kube, resources } from '../../interfaces/kube.ts';
import { listIn } from '../../objects/list-in.ts';
import { clustersWithoutRoom, takesRoom, wantsToChange } from './room.ts';
import type { ClusterObjects } from './snapshot.ts';

/**
 * The clusters that take the room of one which holds its lease; `undefined`: there is room.
 * @throws {KubeError}
 */
export type RoomNow = (cluster: EtcdCluster) => Promise<readonly string[] | undefined>;

interface Seen {
  readonly kube: Kube;
  /** Absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  readonly all: readonly ClusterObjects[];
  readonly fleets: readonly EtcdFleet[];
  readonly signal: AbortSignal;
}

/**
 * Looks again at the clusters of a fleet. Another invocation that saw more of a commit, or less, may have begun with
 * another one. Each looks after its own lease was written: of two, at least one sees the other.
 */
export function roomNow({ kube, namespaces, all, fleets, signal }: Seen): RoomNow {
  const looks = new Map<string, Look>();
  // Not held by this pass: lists of its own are.
  const apart = kube.bounded();
  return async (cluster) => {
    const uid = ownerOf(cluster);
    const fleet = fleets.find(({ metadata }) => metadata.uid === uid);
    if (!fleet || uid === undefined) return undefined;
    const look = looks.get(uid) ?? sharing(() => listOf(uid));
    looks.set(uid, look);
    const now = await look();
    const at = kube.now() ?? new Date();
    const isBusy = (one: ClusterObjects) => takesRoom(one) || (!isSame(one.cluster, cluster) && begins(one, at));
    const objects = all.flatMap((one) => asNow(one, now));
    return clustersWithoutRoom(objects, [fleet], isBusy).get(cluster.metadata.uid ?? '');
  };

  async function listOf(uid: string): Promise<Clusters> {
    const labelSelector = `${labels.fleet}=${uid}`;
    const { items } = await listIn<EtcdCluster>(apart, resources.clusters, { namespaces, labelSelector, signal });
    return new Map(items.map((one) => [one.metadata.uid, one]));
  }
}

type Clusters = ReadonlyMap<string | undefined, EtcdCluster>;
type Look = () => Promise<Clusters>;

function isSame(one: EtcdCluster, other: EtcdCluster): boolean {
  return one.metadata.uid === other.metadata.uid;
}

/** A step of it is under way, and it has not yet what it is asked for. */
function begins(objects: ClusterObjects, at: Date): boolean {
  const { step } = objects.cluster.status ?? {};
  return step !== undefined && Date.parse(step.deadline) > at.getTime() && wantsToChange(objects);
}

/** The same object where it has not changed: what was found out about it is known. */
function asNow(one: ClusterObjects, now: Clusters): readonly ClusterObjects[] {
  const cluster = now.get(one.cluster.metadata.uid);
  if (!cluster) return [];
  return cluster.metadata.resourceVersion === one.cluster.metadata.resourceVersion ? [one] : [{ ...one, cluster }];
}

/** Questions that come while one look is under way share the next, which begins after all of them. */
function sharing(look: Look): Look {
  let last: Promise<unknown> = Promise.resolve();
  let next: ReturnType<Look> | undefined;
  return () => {
    next ??= last
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return look();
      });
    last = next;
    return next;
  };
}
