import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../../../manifests/api/duration.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { HaltAbove } from '../../../manifests/api/rollout.ts';
import { keyOf, memberOf, ownerOf } from '../../fleet/names.ts';
import { says } from '../../reasons/reasons.ts';
import { isOf, processesOf, windowMs, wordsFor } from '../know/counters.ts';
import type { StageHold } from '../know/observation.ts';
import { someOf } from '../know/some-of.ts';
import { byName, crowdOf, isStopped, lacksWhatIsAsked, takesRoom } from './room.ts';
import { slotsOf } from './slots.ts';
import type { ClusterObjects } from './snapshot.ts';

type Halt = Pick<StageHold, 'why' | 'halt'>;

interface Question {
  readonly above: HaltAbove;
  /** Of the cluster's stage. */
  readonly soak: string | undefined;
  readonly now: Date;
}

/** For its soak after it was beyond a limit, on what its members were given since. */
function haltOf(objects: ClusterObjects, { above, soak, now }: Question): Halt | undefined {
  const { cluster } = objects;
  const { exceeded, above: of, given } = cluster.status?.counters ?? {};
  if (!exceeded || !isDeepStrictEqual(of, above) || runsNothing(cluster) || isStopped(objects)) return undefined;
  if (given !== processesOf(slotsOf(objects)).given) return undefined;
  const age = now.getTime() - Date.parse(exceeded.at);
  const isOver = age >= Math.max(windowMs, soak === undefined ? 0 : parseDuration(soak));
  return isOver ? undefined : { why: wordsFor(exceeded.limit, above, keyOf(cluster)), halt: 'haltAbove' };
}

/** Whether the present members were measured for the soak, or for as long as a limit is about, and until lately. */
export function isCounted(objects: ClusterObjects, { above, soak, now }: Question): boolean {
  const { counters } = objects.cluster.status ?? {};
  const [first, last] = [counters?.samples.at(0), counters?.samples.at(-1)];
  if (!first || !last || now.getTime() - Date.parse(last.at) >= windowMs) return false;
  const span = Date.parse(last.at) - Date.parse(first.at);
  const least = soak === undefined ? windowMs : Math.min(windowMs, parseDuration(soak));
  return span >= least && isOf(counters, { ...processesOf(slotsOf(objects)), above });
}

/** The time in which a cluster that is looked at every five minutes is measured, and again as long: milliseconds. */
const longestMs = 3 * windowMs;

/**
 * Whether it has what is asked for, a member was started lately, and what the members count since then is not known
 * yet. What it counts on an earlier commit holds up no revert.
 */
function isToBeMeasured(objects: ClusterObjects, question: Question): boolean {
  if (runsNothing(objects.cluster) || lacksWhatIsAsked(objects) || isCounted(objects, question)) return false;
  const starts = slotsOf(objects).map(({ pod }) => pod?.container.startedAt?.getTime() ?? 0);
  return question.now.getTime() - Math.max(0, ...starts) < longestMs;
}

/** It hibernates or is being deleted: nothing can be seen of it. */
export function runsNothing({ metadata, status }: EtcdCluster): boolean {
  return metadata.deletionTimestamp !== undefined || says(status?.lastDecision, 'Hibernating');
}

interface Among {
  readonly above: HaltAbove | undefined;
  readonly now: Date;
  readonly placeOf: (one: ClusterObjects) => { readonly stage: number; readonly soak: string | undefined };
}

interface Halts {
  /** The first of those that halt. It waits for none: its revert would wait for itself. Then the next is the first. */
  readonly first: ClusterObjects | undefined;
  /** By which other cluster of its stage, or of one before, a cluster is halted. */
  haltFor(one: ClusterObjects): Halt | undefined;
}

export function haltsAmong(own: readonly ClusterObjects[], { above, now, placeOf }: Among): Halts {
  if (!above) return { first: undefined, haltFor: () => undefined };
  const halts = own.toSorted(byName).flatMap((one) => {
    const { stage, soak } = placeOf(one);
    const halt = haltOf(one, { above, soak, now });
    return halt ? [{ one, stage, halt }] : [];
  });
  const [first] = halts.toSorted((a, b) => a.stage - b.stage);
  return {
    first: first?.one,
    haltFor: (one) => (first && first.one !== one && first.stage <= placeOf(one).stage ? first.halt : undefined),
  };
}

/** Of clusters that may not begin: as many as allowed are being changed, or of their stage not measured yet. */
export function unmeasuredAmong(
  own: readonly ClusterObjects[],
  fleet: EtcdFleet,
  { above, now, placeOf }: Among & { readonly above: HaltAbove },
): (one: ClusterObjects) => Pick<StageHold, 'why' | 'isRoom'> | undefined {
  const running = own.filter((one) => !isStopped(one));
  const heldIn = (place: number) => {
    const isUnmeasured = (one: ClusterObjects) => {
      const { stage, soak } = placeOf(one);
      return stage === place && isToBeMeasured(one, { above, soak, now });
    };
    const crowd = crowdOf(running, fleet, (one) => takesRoom(one) || isUnmeasured(one));
    return new Map(crowd.map(({ one, names }) => [one, { why: someOf(names), isRoom: true } as const]));
  };
  const places = new Map([...new Set(running.map((one) => placeOf(one).stage))].map((at) => [at, heldIn(at)]));
  return (one) => places.get(placeOf(one).stage)?.get(one);
}

/** The limits that members are asked about, by the UIDs of their clusters; `unseen`: their fleet is in no list. */
export function haltsAbove(
  all: readonly ClusterObjects[],
  fleets: readonly EtcdFleet[],
): ReadonlyMap<string, HaltAbove | 'unseen'> {
  const known = new Map(fleets.map((fleet) => [fleet.metadata.uid, { fleet, isMember: memberOf(fleet) }]));
  const found = new Map<string, HaltAbove | 'unseen'>();
  for (const { cluster } of all) {
    const owner = ownerOf(cluster);
    const { fleet, isMember } = known.get(owner) ?? {};
    const limits = fleet ? fleet.spec.rollout?.haltAbove : 'unseen';
    if (owner !== undefined && limits && (!isMember || isMember(cluster)))
      found.set(cluster.metadata.uid ?? '', limits);
  }
  return found;
}
