import { parseDuration } from '../../../manifests/api/duration.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { podName } from '../../../manifests/render/names.ts';
import { handedOverTo, isMarked, keyOf, memberOf } from '../../fleet/names.ts';
import { kindOfEntry, withKind } from '../../fleet/objects.ts';
import { wholeRevision } from '../../fleet/outcome.ts';
import { shaOf } from '../../fleet/reading.ts';
import { isResumed } from '../../fleet/rollout-approval.ts';
import type { Stage } from '../../fleet/stage-of.ts';
import { isAsLeft } from '../../fleet/unchanged.ts';
import { conditionOf, isTrue } from '../../objects/conditions.ts';
import { says } from '../../reasons/reasons.ts';
import { timestamp } from '../../time/timestamp.ts';
import type { StageHold } from '../know/observation.ts';
import { haltsAmong, isCounted, runsNothing, unmeasuredAmong } from './halts.ts';
import { byName, stagesOf, takesRoom, wantsToChange } from './room.ts';
import { slotsOf } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

/** Why what comes after may not begin. */
type Unfinished = Pick<StageHold, 'why' | 'until'>;

interface Context {
  readonly isLeft: (cluster: EtcdCluster) => boolean;
  readonly now: Date;
  readonly above: HaltAbove | undefined;
}

/**
 * Of clusters that may not begin to take what a commit changed in them, by their UIDs, the stage of `spec.rollout` that
 * must be over before. Otherwise one bad commit would reach every cluster, however few at once.
 *
 * Nothing is remembered: a stage is over while each of its clusters is what the fleet applied last, is well, and has
 * been so for the soak. So a fleet's next commit, a revert and a cluster that falls ill need no case of their own.
 *
 * An invocation may see a cluster that has the commit beside one that lacks it still: a cluster of a later stage waits
 * until the fleet tells that it applied all of the commit, and until each one that comes before is as it was left.
 *
 * A cluster that counts more than `haltAbove` halts the rest of its own stage, too (`haltsAmong`). Until it is known
 * what one that has begun counts, it keeps its room: at most `maxClustersInProgress` have what hurts them. A commit
 * status of others that failed halts all (`haltOnStatuses`). Neither does where a person approved that this commit goes
 * on (`isResumed`).
 *
 * Guards I1 across the clusters of a fleet.
 *
 * @param listed what there is, also what other invocations step. Absent: all of it is in `all`
 */
export function heldByStages(
  all: readonly ClusterObjects[],
  fleets: readonly EtcdFleet[],
  now: Date,
  listed: readonly EtcdCluster[] = all.map(({ cluster }) => cluster),
): ReadonlyMap<string, StageHold> {
  const held = new Map<string, StageHold>();
  for (const fleet of fleets) {
    const { stages = [], haltAbove: above } = fleet.spec.rollout ?? {};
    if (stages.length === 0) continue;
    const [isMember, isLeft] = [memberOf(fleet), leftBy(fleet)];
    const stageIn = stagesOf(all, stages);
    const placeOf = (one: ClusterObjects) => ({ stage: stageIn(one), soak: stages[stageIn(one)]?.soak });
    const own = all.filter(({ cluster }) => isMember(cluster) && !handedOverTo(cluster));
    const byStage = Map.groupBy(own, stageIn);
    const context = { isLeft, now, above };
    const unfinished = stages.map((stage, index) => unfinishedIn(stage, byStage.get(index) ?? [], context));
    const resumed = isResumed(
      fleet,
      own.map(({ cluster }) => cluster),
    );
    const { first, haltFor } = haltsAmong(own, { now, above: resumed ? undefined : above, placeOf });
    const unmeasured = above && unmeasuredAmong(own, fleet, { above, now, placeOf });
    const unseen = notSeen(fleet, listed);
    const unapplied = notApplied(fleet);
    // A commit that is being applied may be the revert.
    const others = unapplied || resumed ? {} : toldByOthers(fleet);
    const whole = unapplied ?? unseen ?? others.unread;
    const holdOf = (one: ClusterObjects): StageHold | undefined => {
      const before = unfinished.slice(0, stageIn(one));
      const open = isLeft(one.cluster) ? before.find((other) => other !== undefined) : untold;
      const stage = before.length > 0 ? (whole ?? open) : undefined;
      return (
        others.failed ?? haltFor(one) ?? (above && unseen) ?? stage ?? (one === first ? undefined : unmeasured?.(one))
      );
    };
    for (const one of all) {
      if (!isMarked(fleet, one.cluster)) continue;
      const { uid = '' } = one.cluster.metadata;
      // It may be one that the fleet has just taken over. What is true of the others is not told to a stranger.
      if (!isMember(one.cluster) && stageIn(one) > 0) held.set(uid, unknownMember);
      const hold = isMember(one.cluster) ? holdOf(one) : undefined;
      if (hold) held.set(uid, { fleet: keyOf(fleet), ...hold });
    }
  }
  return held;
}

function unfinishedIn({ name, soak }: Stage, clusters: readonly ClusterObjects[], context: Context) {
  const say = ({ why, ...rest }: Unfinished, others = '') => ({
    ...rest,
    why: `stage ${name} is not over: ${why}${others}`,
  });
  const running = clusters.filter(({ cluster }) => !runsNothing(cluster));
  // A label with a slip in it, or a night's sleep, must not let a commit reach every cluster at once.
  if (running.length === 0) return say({ why: 'no cluster that runs has its labels' });
  const found = running.toSorted(byName).flatMap((one) => unfinished(one, soak, context) ?? []);
  // A soak ends by itself: what may need a person is told first.
  const [first] = found.toSorted((a, b) => endOf(b) - endOf(a));
  return first && say(first, found.length > 1 ? `, and ${found.length - 1} more` : '');
}

function unfinished(objects: ClusterObjects, soak: string | undefined, context: Context): Unfinished | undefined {
  const { cluster } = objects;
  const { status, metadata } = cluster;
  const name = keyOf(cluster);
  if (!context.isLeft(cluster)) return { why: `${name} is not as the fleet left it` };
  if (status?.observedGeneration !== metadata.generation) return { why: `${name} has not been looked at since` };
  const { lastDecision: last, setAside = [] } = status ?? {};
  if (!says(last, 'Converged') || !isTrue(status, 'Ready') || setAside.length > 0)
    return { why: `${name} is not well, or not as asked (${last?.reason})` };
  const since = readySince(objects);
  if (since === undefined) return { why: `${name} has a member that is not Ready` };
  if (wantsToChange(objects) || takesRoom(objects)) return { why: `${name} is being changed` };
  const { above, now } = context;
  const until = new Date(since + (soak === undefined ? 0 : parseDuration(soak)));
  if (now < until) return { why: `${name} soaks until ${timestamp(until)}`, until };
  const isUncounted = above && !isCounted(objects, { above, soak, now });
  return isUncounted ? { why: `${name} is measured (spec.rollout.haltAbove)` } : undefined;
}

/** When the last of its members started, or became Ready, in milliseconds; `undefined`: not all of them are. */
function readySince(objects: ClusterObjects): number | undefined {
  const pods = new Map(objects.pods.map((pod) => [pod.metadata.name, pod]));
  const times = slotsOf(objects).flatMap(({ name, peer }) => {
    const pod = pods.get(podName(name));
    const ready = conditionOf(pod?.status, 'Ready');
    if (!peer?.current || ready?.status !== 'True' || pod?.metadata.deletionTimestamp !== undefined) return [];
    const started = pod?.status?.containerStatuses?.find((one) => one.name === 'etcd')?.state?.running?.startedAt;
    return [Math.max(timeOf(ready.lastTransitionTime), timeOf(started))];
  });
  return times.length === objects.cluster.spec.replicas ? Math.max(...times) : undefined;
}

function timeOf(time: string | undefined): number {
  return time === undefined ? 0 : Date.parse(time);
}

const unknownMember: StageHold = { why: 'it is not known yet whether the cluster is one of that fleet' };
const untold: Unfinished = { why: 'the fleet has not told yet that it applied this change' };

function notApplied({ status }: EtcdFleet): Unfinished | undefined {
  if (wholeRevision(status?.revision) !== undefined) return undefined;
  return { why: 'not all of its commit is applied yet: see the status of the fleet' };
}

/** What commit statuses of others say of the commit that was applied last. Until they are read, later stages wait. */
function toldByOthers({ spec, status }: EtcdFleet): { failed?: Pick<StageHold, 'why' | 'halt'>; unread?: Unfinished } {
  const contexts = spec.rollout?.haltOnStatuses ?? [];
  if (contexts.length === 0) return {};
  const sha = shaOf(status?.revision?.applied ?? '');
  const { othersStatuses: read } = status ?? {};
  if (read?.sha !== sha) return { unread: { why: `the commit statuses ${contexts.join(', ')} were not read yet` } };
  // Of what is asked for now: the field may have changed since.
  if (read.failed === undefined || !contexts.includes(read.failed)) return {};
  return { failed: { why: `commit status ${read.failed} failed`, halt: 'haltOnStatuses' } };
}

/** Which stage a cluster belongs to that is not there, or not in this invocation's lists, nothing tells. */
function notSeen({ spec, status }: EtcdFleet, listed: readonly EtcdCluster[]): Unfinished | undefined {
  if (spec.suspend) return undefined;
  const seen = new Set(listed.map(({ metadata }) => metadata.uid));
  const gone = status?.inventory?.find((entry) => kindOfEntry(entry) === 'EtcdCluster' && !seen.has(entry.uid));
  return gone && { why: `${gone.namespace}/${gone.name} is not there, or can't be seen by this invocation` };
}

/** A suspended fleet applies nothing, and what people change meanwhile is theirs: the stages hold all the same. */
function leftBy({ spec, status }: EtcdFleet): (cluster: EtcdCluster) => boolean {
  if (spec.suspend) return () => true;
  const inventory = new Map((status?.inventory ?? []).map((entry) => [entry.uid, entry]));
  return (cluster) => {
    const entry = inventory.get(cluster.metadata.uid ?? '');
    return entry !== undefined && isAsLeft(entry, withKind('EtcdCluster', cluster));
  };
}

function endOf({ until }: Unfinished): number {
  return until?.getTime() ?? Number.MAX_VALUE;
}
