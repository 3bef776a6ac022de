import type { ClusterSetAside } from '../../manifests/api/etcd-cluster.ts';
import { hashOf } from '../../manifests/build/inputs-hash.ts';
import { wantsReconcile } from '../../manifests/build/reconcile-request.ts';
import { targetOf } from './action-target.ts';
import type { Action } from './actions.ts';
import { timestamp } from './conditions.ts';
import type { Decision } from './decision.ts';
import type { Observation } from './observation.ts';
import type { Outcome } from './outcome.ts';

/**
 * Actions that were refused for good (403, 404, 422, a name that is somebody else's), remembered in the status: each is left alone for a
 * while, so that what does not depend on it goes on, and a tick costs no request for it. A status that is lost costs another try.
 */

/** Seconds until the second try; twice that until the third, and so on. */
const firstPause = 60;
const longestPause = 1800;
/** Without another try for so long, in seconds, it is forgotten. */
const forgottenAfter = 2 * longestPause;
const mostEntries = 16;

/** Those that hold at this generation and time. Whoever asks for a look right now asks for another try as well. */
export function setAsideNow({ cluster, at }: Pick<Observation, 'cluster' | 'at'>): readonly ClusterSetAside[] {
  const { status, metadata } = cluster;
  const entries = status?.setAside ?? [];
  if (entries.length === 0 || wantsReconcile(cluster)) return [];
  return entries.filter(
    ({ generation, until }) => generation === (metadata.generation ?? 0) && at.getTime() < Date.parse(until),
  );
}

export function entryFor(action: Action, refused: readonly ClusterSetAside[]): ClusterSetAside | undefined {
  const candidates = refused.filter((entry) => entry.action === action.kind);
  if (candidates.length === 0) return undefined;
  const key = keyOf(action);
  return candidates.find((entry) => entry.key === key);
}

/** What is remembered after this step. Equal for equal facts, unless something was refused just now. */
export function setAsideAfter(
  { cluster, at }: Pick<Observation, 'cluster' | 'at'>,
  decision: Decision,
  outcome: Outcome,
): readonly ClusterSetAside[] {
  const generation = cluster.metadata.generation ?? 0;
  const kept = (cluster.status?.setAside ?? []).filter(
    (entry) => entry.generation === generation && at.getTime() < Date.parse(entry.until) + forgottenAfter * 1000,
  );
  if (decision.kind !== 'act' || (outcome.kind !== 'acted' && outcome.kind !== 'failed')) return kept;
  const { action } = decision;
  const key = keyOf(action);
  const others = kept.filter((entry) => entry.action !== action.kind || entry.key !== key);
  if (outcome.kind === 'acted') return others;
  if (outcome.failure.class !== 'terminal') return kept;
  const before = kept.find((entry) => entry.action === action.kind && entry.key === key);
  const tries = (before?.tries ?? 0) + 1;
  const target = targetOf(action)?.slice(0, 253);
  const entry: ClusterSetAside = {
    action: action.kind,
    ...(target && { target }),
    key,
    reason: outcome.failure.reason,
    message: outcome.failure.message.slice(0, 2000),
    generation,
    since: before?.since ?? timestamp(at),
    tries,
    until: timestamp(new Date(at.getTime() + pauseAfter(tries) * 1000)),
  };
  return [...others, entry].slice(-mostEntries);
}

function pauseAfter(tries: number): number {
  return Math.min(firstPause * 2 ** Math.min(tries - 1, 10), longestPause);
}

/** A plan does not count on the API server changing its mind: what is refused now stays refused at this generation. */
export function lastingly<T extends Pick<Observation, 'cluster' | 'at'>>(observation: T): T {
  const refused = setAsideNow(observation);
  const { cluster } = observation;
  if (refused.length === 0 || !cluster.status) return observation;
  const setAside = refused.map((entry) => ({ ...entry, until: '9999-12-31T23:59:59Z' }));
  return { ...observation, cluster: { ...cluster, status: { ...cluster.status, setAside } } };
}

/** Fields that differ from look to look though the same is to be done: times, randomness, and what etcd counts. */
const passing: ReadonlySet<string> = new Set([
  'at',
  'bareAt',
  'index',
  'limits',
  'nonce',
  'replacedAt',
  'revision',
  'since',
  'successor',
  'token',
  'validity',
]);

/** Equal for the same action about the same objects: UIDs are part of it, so what was made anew is something else. */
export function keyOf(action: Action): string {
  return hashOf(withoutPassing(action.kind === 'defragment-member' ? { ...action, size: 0 } : action)).slice(0, 16);
}

function withoutPassing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPassing);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (passing.has(key) ? [] : [[key, withoutPassing(field)]])),
  );
}
