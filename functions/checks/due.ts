import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { seenOf } from '../../reconcile/fleet/check/seen.ts';
import { keyOf, ownObjects } from '../../reconcile/fleet/names.ts';
import { isHeld } from './ledger.ts';

export interface Due {
  readonly request: ChangeRequest;
  /** The last check of this head; absent: it was never checked. */
  readonly before?: RequestCheck;
}

/**
 * The requests to check, the new ones first. Each pair of head and target is checked once, and again when the clusters
 * that it touches, or the fleet itself, have changed. A check that another invocation has just begun is left to it.
 * @param remembered the one checked longest ago comes first
 */
export function dueRequests(
  requests: readonly ChangeRequest[],
  remembered: readonly RequestCheck[],
  target: string,
  {
    fleet,
    clusters,
    now,
  }: { readonly fleet: EtcdFleet; readonly clusters: readonly EtcdCluster[]; readonly now: Date },
): readonly Due[] {
  const due = oneForEachHead(requests).flatMap((request): Due[] => {
    const before = remembered.find(({ head }) => head === request.headSha);
    if (!before) return [{ request }];
    if (isHeld(before, now)) return [];
    return isStale(before, target, fleet, clusters) ? [{ request, before }] : [];
  });
  // What failed for no fault of its own, or was begun and never ended, comes last: it must not take the time of the
  // others, pass after pass. Of the others, who was checked longest ago: a branch that moves all the time must not
  // leave the same ones waiting.
  const turn = ({ before }: Due) => (before ? remembered.indexOf(before) : 0);
  return due.toSorted((a, b) => rank(a) - rank(b) || turn(a) - turn(b));
}

/** Of several requests with the same head, the newest: a status belongs to a commit. */
export function oneForEachHead(requests: readonly ChangeRequest[]): readonly ChangeRequest[] {
  const heads = new Set<string>();
  return requests.filter(({ headSha }) => !heads.has(headSha) && heads.add(headSha));
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

function isStale(before: RequestCheck, target: string, fleet: EtcdFleet, clusters: readonly EtcdCluster[]): boolean {
  if (before.state === 'error' || before.state === 'pending') return true;
  // Also of one that touched nothing: what it added and took back is taken back from a target that has it by now.
  if (before.target !== target) return true;
  return before.seen !== lookOf(fleet, clusters, before.clusters);
}

function rank({ before }: Due): number {
  if (!before) return 0;
  return before.state === 'error' || before.state === 'pending' ? 2 : 1;
}
