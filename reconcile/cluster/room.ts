import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { inputsHash } from '../../manifests/build/inputs-hash.ts';
import { labels } from '../../manifests/build/names.ts';
import { effectiveSpec } from './effective.ts';
import { lifeOf } from './life.ts';
import { slotsOf } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

/** The default of `spec.maxClustersInProgress`. */
const usually = '10%';

/**
 * The UIDs of clusters that may not begin to restart members now: so many others of their fleet are at it already
 * (`spec.maxClustersInProgress`). Otherwise one commit would roll every cluster at once.
 *
 * Who is at it goes on. Of those that want to begin the first by name may, then the others: who asks in vain says so in its
 * status, and counts among those that want to from then on.
 */
export function clustersWithoutRoom(all: readonly ClusterObjects[], fleets: readonly EtcdFleet[]): ReadonlySet<string> {
  const without = new Set<string>();
  for (const { metadata, spec } of fleets) {
    const own = all.filter(({ cluster }) => cluster.metadata.labels?.[labels.fleet] === metadata.uid);
    const [rolling, resting] = parted(own, isRolling);
    const [wanting, others] = parted(resting, wantsToRoll);
    const left = Math.max(0, limitOf(spec.maxClustersInProgress ?? usually, own.length) - rolling.length);
    const inTurn = [...wanting.toSorted(byName), ...others.toSorted(byName)];
    for (const { cluster } of inTurn.slice(left)) without.add(cluster.metadata.uid ?? '');
  }
  return without;
}

const rollingReasons: ReadonlySet<string> = new Set([
  'FinishingRolling',
  'RollingConfiguration',
  'UpgradingMember',
  'RollingBackVersion',
]);

/** At least one, or nothing would ever move. */
function limitOf(limit: number | string, clusters: number): number {
  const percent = /^(\d+)%$/.exec(String(limit))?.[1];
  const count = percent === undefined ? Number(limit) : Math.floor((Number(percent) * clusters) / 100);
  return Math.max(1, count);
}

/** Some members have what others have not yet, or one that was started anew is not back. */
function isRolling(objects: ClusterObjects): boolean {
  const slots = slotsOf(objects).filter(({ peer }) => peer?.current);
  const wanted = new Set(slots.flatMap(({ peer }) => (peer ? [inputsHash(peer.inputs)] : [])));
  if (wanted.size > 1 || slots.some(({ pod }) => pod?.upToDate === 'no')) return true;
  const { history, conditions, replicas, readyReplicas } = objects.cluster.status ?? {};
  const last = history?.at(-1)?.reason;
  // With every member healthy, what else a person is asked to do takes no room.
  const isReady = conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  const isBack = isReady || (readyReplicas !== undefined && readyReplicas === replicas);
  return last !== undefined && rollingReasons.has(last) && !isBack;
}

function wantsToRoll(objects: ClusterObjects): boolean {
  const { cluster } = objects;
  if (cluster.status?.lastDecision?.reason === 'WaitingForRoom') return true;
  const slots = slotsOf(objects);
  const life = lifeOf({ cluster, slots, claim: { kind: 'free' }, membership: { kind: 'unknown', cause: 'not asked' } });
  const { inputs } = effectiveSpec({ cluster, slots, certificates: { kind: 'unread' } }, life);
  const wanted = inputsHash(inputs);
  return slots.some(({ peer }) => peer?.current && inputsHash(peer.inputs) !== wanted);
}

function parted<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [T[], T[]] {
  const groups = Map.groupBy(items, isFirst);
  return [groups.get(true) ?? [], groups.get(false) ?? []];
}

function byName({ cluster: a }: ClusterObjects, { cluster: b }: ClusterObjects): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return (left ?? '') < (right ?? '') ? -1 : 1;
}
