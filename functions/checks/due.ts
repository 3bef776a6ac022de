import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { seenOf } from '../../reconcile/fleet/check/seen.ts';
import { keyOf, ownObjects } from '../../reconcile/fleet/names.ts';
import { isHeld, mostRemembered } from './ledger.ts';
import { fewOfEach, inTurns, oldestFirst } from './turns.ts';

/** Requests with the same head: it is checked once, and each of them is told. */
export interface Head {
  readonly request: ChangeRequest;
  readonly others: readonly ChangeRequest[];
}

export interface Due extends Head {
  /** The last check of this head; absent: it was never checked. */
  readonly before?: RequestCheck;
}

/**
 * The heads to check: own branches before forks, and of each the new ones first. Each pair of head and target is
 * checked once, and again when the clusters that it touches, the fleet itself, or the requests for it have changed. A
 * check that another invocation has just begun is left to it.
 * @param remembered the one checked longest ago comes first
 */
export function dueRequests(
  heads: readonly Head[],
  remembered: readonly RequestCheck[],
  target: string,
  {
    fleet,
    clusters,
    now,
  }: { readonly fleet: EtcdFleet; readonly clusters: readonly EtcdCluster[]; readonly now: Date },
): readonly Due[] {
  const due = heads.flatMap((head): Due[] => {
    const before = remembered.find((check) => check.head === head.request.headSha);
    if (!before) return [head];
    if (isHeld(before, now)) return [];
    const isTold = numbersOf(head).every((number) => numbersKnown(before).includes(number));
    return !isTold || isStale(before, target, fleet, clusters) ? [{ ...head, before }] : [];
  });
  const fresh = due.filter(isNew).map(({ request }) => request);
  // The whole list counts: what is remembered of it takes its room as well.
  const turns = heads.length > mostRemembered ? inTurns(fresh, { now, most: 0 }) : oldestFirst(fresh);
  const places = new Map(turns.map((request, index) => [request, index]));
  // What failed for no fault of its own, or was begun and never ended, comes last: it must not take the time of the
  // others, pass after pass. Of the others, who was checked longest ago: a branch that moves all the time must not
  // leave the same ones waiting.
  const turn = ({ before, request }: Due) => places.get(request) ?? (before ? remembered.indexOf(before) : 0);
  return due.toSorted((a, b) => rank(a) - rank(b) || turn(a) - turn(b));
}

/**
 * By head. The report is about the oldest of them from an own branch: a stranger's request with the same head takes
 * nothing from it.
 */
export function headsOf(requests: readonly ChangeRequest[]): readonly Head[] {
  const groups = Map.groupBy(oldestFirst(requests), ({ headSha }) => headSha);
  return [...groups.values()].flatMap((same) => {
    const [request, ...others] = same.toSorted((a, b) => Number(a.fork) - Number(b.fork));
    return request ? [{ request, others: others.slice(0, mostOthers) }] : [];
  });
}

/** What the status has room for. */
const mostOthers = 4;

function numbersOf({ request, others }: Head): readonly string[] {
  return [request, ...others].map(({ number }) => number);
}

/** The requests that were told of a check. */
export function numbersKnown({ number, others = [] }: RequestCheck): readonly string[] {
  return [number, ...others.map((other) => other.number)];
}

/** What the fleet and the clusters looked like that a check was about. */
export function lookOf(
  fleet: EtcdFleet,
  clusters: readonly EtcdCluster[],
  touched: readonly string[] | undefined,
): string {
  const about = touched ? clusters.filter((one) => touched.includes(keyOf(one))) : ownObjects(fleet, clusters);
  return seenOf(fleet, about);
}

/** Whether it has no verdict, or that is of what is no more. */
export function isStale(
  before: RequestCheck,
  target: string,
  fleet: EtcdFleet,
  clusters: readonly EtcdCluster[],
): boolean {
  if (before.state === 'error' || before.state === 'pending' || before.state === 'withheld') return true;
  // Also of one that touched nothing: what it added and took back is taken back from a target that has it by now.
  if (before.target !== target) return true;
  return before.seen !== lookOf(fleet, clusters, before.clusters);
}

/** Never checked, or no longer withheld. */
function isNew({ before }: Due): boolean {
  return !before || before.state === 'withheld';
}

/** A merge queue stands still until its commit has a status. */
function rank(due: Due): number {
  if (due.request.queued && isNew(due)) return -1;
  if (hasFailed(due)) return due.request.fork ? 5 : 4;
  return (due.request.fork ? 2 : 0) + (isNew(due) ? 0 : 1);
}

function hasFailed({ before }: Due): boolean {
  return before?.state === 'error' || before?.state === 'pending';
}

/** Requests of one fleet that are checked in one pass; the next pass goes on. */
const mostPerPass = 10;
/** Of these, for forks where some wait: own branches that move all the time must not keep them out. */
const leastForForks = 3;

/** Those of one pass, in their order. */
export function chosenOf(due: readonly Due[]): readonly Due[] {
  const own = due.filter(({ request }) => !request.fork);
  const few = new Set(fewOfEach(due.map(({ request }) => request).filter(({ fork }) => fork)));
  const forks = due.filter(({ request }) => few.has(request));
  const places = Math.max(mostPerPass - own.length, Math.min(leastForForks, forks.length));
  const chosen = new Set([...own.slice(0, mostPerPass - Math.min(places, forks.length)), ...forks.slice(0, places)]);
  return due.filter((one) => chosen.has(one));
}
