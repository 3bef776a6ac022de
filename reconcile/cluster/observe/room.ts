import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../../manifests/api/spec-defaults.ts';
import { byIdentity } from '../../../manifests/by-identity.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { isMarked, keyOf, memberOf } from '../../fleet/names.ts';
import { type Stage, stageOf } from '../../fleet/stage-of.ts';
import { courseOf, says } from '../../reasons/reasons.ts';
import { type Life, lifeOf, recordOf } from '../know/life.ts';
import type { Slot } from '../know/observation.ts';
import { effectiveSpec } from '../know/spec/effective.ts';
import { revocationsView } from './shared.ts';
import { slotsOf } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

/**
 * Of clusters that may not begin to change, by their UIDs, the clusters that take the room: as many others of their
 * fleet as allowed are changing already (`spec.maxClustersInProgress`). Otherwise one commit would roll, shrink or stop
 * every cluster at once.
 *
 * A cluster that has begun goes on. A cluster that is not healthy needs no room to be healed, and takes room all the
 * same: no other change begins while as many are unhealthy. Of those that want to begin, the first by stage and
 * name may, then the others: a cluster that has to wait says so in its status, and is one of those that want to.
 */
export function clustersWithoutRoom(
  all: readonly ClusterObjects[],
  fleets: readonly EtcdFleet[],
  isBusy = takesRoom,
): ReadonlyMap<string, readonly string[]> {
  const without = new Map<string, readonly string[]>();
  for (const fleet of fleets) {
    const isMember = memberOf(fleet);
    const marked = all.filter((one) => isMarked(fleet, one.cluster) && !isStopped(one));
    const [own, strangers] = parted(marked, ({ cluster }) => isMember(cluster));
    const among = crowdOf(own, fleet, isBusy);
    for (const { one, names } of among) without.set(one.cluster.metadata.uid ?? '', names);
    if (strangers.length === 0) continue;
    // A label alone takes no room of others, and may be of one that the fleet has just taken over: it waits among all.
    const crowd = crowdOf(marked, fleet, isBusy);
    for (const { one, names } of crowd) {
      if (!isMember(one.cluster)) without.set(one.cluster.metadata.uid ?? '', names.filter(isBeside(one)));
    }
  }
  return without;
}

interface Crowded {
  readonly one: ClusterObjects;
  /** Those that have the room, of the fleet or of its stage. */
  readonly names: readonly string[];
}

/** The clusters that wait. A stage's own limit holds beside that of the fleet. */
export function crowdOf(own: readonly ClusterObjects[], { spec }: EtcdFleet, isBusy = takesRoom): readonly Crowded[] {
  const { stages = [] } = spec.rollout ?? {};
  const stageIn = stagesOf(own, stages);
  const byTurn = (a: ClusterObjects, b: ClusterObjects) => stageIn(a) - stageIn(b) || byName(a, b);
  const [busy, resting] = parted(own, isBusy);
  const [wanting, others] = parted(resting, wantsToChange);
  const byStage = Map.groupBy(own, stageIn);
  const rooms = stages.map(({ maxClustersInProgress: limit }, index) =>
    limit === undefined ? undefined : roomFor(limit, byStage.get(index) ?? []),
  );
  const whole = roomFor(spec.maxClustersInProgress ?? fleetDefaults.maxClustersInProgress, own);
  const roomsOf = (one: ClusterObjects) => [whole, rooms[stageIn(one)]].filter((room) => room !== undefined);
  for (const one of busy.toSorted(byName)) for (const room of roomsOf(one)) room.taken.push(keyOf(one.cluster));
  const crowded: { one: ClusterObjects; by: Room }[] = [];
  for (const one of [...wanting.toSorted(byTurn), ...others.toSorted(byTurn)]) {
    const asked = roomsOf(one);
    const by = asked.find(({ taken, limit }) => taken.length >= limit);
    if (by) crowded.push({ one, by });
    else for (const room of asked) room.taken.push(keyOf(one.cluster));
  }
  return crowded.map(({ one, by }) => ({ one, names: by.taken }));
}

interface Room {
  readonly limit: number;
  readonly taken: string[];
}

function roomFor(limit: number | string, clusters: readonly ClusterObjects[]): Room {
  return { limit: limitOf(limit, clusters.length), taken: [] };
}

/** The stage of each, which is asked for again and again. */
export function stagesOf(all: readonly ClusterObjects[], stages: readonly Stage[]): (one: ClusterObjects) => number {
  const found = new Map(all.map((one) => [one, stageOf(one.cluster.metadata.labels, stages)]));
  return (one) => found.get(one) ?? stages.length;
}

/** The names of clusters elsewhere are not told to a stranger. */
function isBeside({ cluster }: ClusterObjects): (name: string) => boolean {
  return (name) => name.startsWith(`${cluster.metadata.namespace}/`);
}

/** At least one, or nothing would ever move. */
function limitOf(limit: number | string, clusters: number): number {
  const percent = /^(\d+)%$/.exec(String(limit))?.[1];
  const count = percent === undefined ? Number(limit) : Math.floor((Number(percent) * clusters) / 100);
  return Math.max(1, count);
}

/** A person stopped it and answers for it: neither its half-done change nor its wish holds up the others for good. */
export function isStopped({ cluster: { spec, metadata } }: ClusterObjects): boolean {
  return spec.suspend === true || metadata.annotations?.[annotations.paused] !== undefined;
}

/** What waits for a time keeps no room; after a soak, not before the rest of the upgrade has its turn. */
function isHeld({ cluster: { status } }: ClusterObjects): boolean {
  const last = status?.lastDecision;
  if (status?.soak && says(last, 'WaitingForRoom')) return true;
  return says(last, 'OutsideWindows', 'PlanOutgrown', 'Soaking', 'WaitingForStage', 'RolloutHalted');
}

export const takesRoom = byIdentity((objects: ClusterObjects): boolean => {
  const slots = slotsOf(objects).filter(({ peer }) => peer?.current);
  // Its members may differ, since one was cured on the way; until its window opens nothing of it is under way.
  if (isHeld(objects)) return isUnwell(slots, lifeOfObjects(objects));
  return isRolling(slots, objects) || isChangingSize(slots) || isUnwell(slots, lifeOfObjects(objects));
});

/** Some members have what others have not yet, or one that was started anew is not back. */
function isRolling(slots: readonly Slot[], { cluster }: ClusterObjects): boolean {
  const wanted = new Set(slots.flatMap(({ peer }) => (peer ? [inputsHash(peer.inputs)] : [])));
  if (wanted.size > 1 || slots.some(({ pod }) => pod?.upToDate === 'no')) return true;
  const { history, conditions, replicas, readyReplicas } = cluster.status ?? {};
  const last = history?.at(-1)?.reason;
  // With every member healthy, what else a person is asked to do takes no room.
  const isReady = conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  const isBack = isReady || (readyReplicas !== undefined && readyReplicas === replicas);
  return courseOf(last) === 'rolls' && !isBack;
}

/** A member is added or removed. Between two of them another cluster may have its turn. */
function isChangingSize(slots: readonly Slot[]): boolean {
  return slots.some((slot) => ['joining', 'releasing'].includes(recordOf(slot)?.state ?? ''));
}

/** A member that has served does not serve, for any cause. Not a cluster that is being born, or hibernates. */
function isUnwell(slots: readonly Slot[], life: Life): boolean {
  return life.stage === 'born' && slots.some((slot) => recordOf(slot)?.state === 'sealed' && !slot.pod?.ready);
}

export const wantsToChange = byIdentity((objects: ClusterObjects): boolean => {
  const { cluster } = objects;
  if (says(cluster.status?.lastDecision, 'WaitingForRoom')) return true;
  // Until its window opens it must not keep others from theirs. Then it asks for room, and says so.
  if (isHeld(objects)) return false;
  const slots = slotsOf(objects);
  // What was refused is tried again now and then, and must not hold up the others meanwhile.
  const isRefused = cluster.status?.setAside?.length || cluster.status?.lastDecision?.kind === 'Refuse';
  const members = slots.filter((slot) => slot.peer?.current && recordOf(slot)?.state !== 'hibernating').length;
  if (!isRefused && members > 0 && members !== cluster.spec.replicas) return true;
  return lacksWhatIsAsked(objects);
});

/** Whether members have not yet what the spec asks for. */
export const lacksWhatIsAsked = byIdentity((objects: ClusterObjects): boolean => {
  const { cluster } = objects;
  const slots = slotsOf(objects);
  const shared = { revocations: revocationsView(objects) };
  const { inputs } = effectiveSpec(
    { cluster, slots, shared, certificates: { kind: 'unread' } },
    lifeOfObjects(objects),
  );
  const wanted = inputsHash(inputs);
  return slots.some(({ peer }) => peer?.current && inputsHash(peer.inputs) !== wanted);
});

/** As far as it can be told without asking etcd. */
function lifeOfObjects(objects: ClusterObjects): Life {
  return lifeOf({ cluster: objects.cluster, slots: slotsOf(objects), lease: { kind: 'free' } });
}

function parted<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [T[], T[]] {
  const groups = Map.groupBy(items, isFirst);
  return [groups.get(true) ?? [], groups.get(false) ?? []];
}

export function byName(a: ClusterObjects, b: ClusterObjects): number {
  return keyOf(a.cluster) < keyOf(b.cluster) ? -1 : 1;
}
