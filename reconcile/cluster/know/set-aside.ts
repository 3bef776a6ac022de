import type { ClusterSetAside } from '../../../manifests/api/etcd-cluster-status.ts';
import { hashOf } from '../../../manifests/render/inputs-hash.ts';
import { wantsReconcile } from '../../../manifests/render/reconcile-request.ts';
import type { Action } from './action.ts';
import type { Observation } from './observation.ts';

/**
 * Actions that were refused for good (403, 404, 422, a name of another owner), remembered in status: each is left alone
 * for a while, so that steps which do not depend on it go on, and a tick costs no request for it. A lost status costs
 * another try.
 *
 * The same for actions that keep failing in one way that may pass: an admission webhook may answer 500 for ever. Of
 * those only one on which another rule waits steps aside (`asItStands`): the rules that keep a cluster alive are never
 * held up by their own failures.
 */

/** Entries that hold at this generation and time. A request to look now is also a request to try again. */
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

/**
 * A plan does not expect the API server to change its mind: a refusal stays at this generation. What may pass, passes.
 */
export function lastingly<T extends Pick<Observation, 'cluster' | 'at'>>(observation: T): T {
  const now = setAsideNow(observation);
  const { cluster } = observation;
  if (now.length === 0 || !cluster.status) return observation;
  const refused = now.filter(({ repeated }) => !repeated);
  const setAside = refused.map((entry) => ({ ...entry, until: '9999-12-31T23:59:59Z' }));
  return { ...observation, cluster: { ...cluster, status: { ...cluster.status, setAside } } };
}

/** Fields that differ from look to look although the step is the same: times, randomness, and etcd's counters. */
const passing: ReadonlySet<string> = new Set([
  'at',
  'bareAt',
  'index',
  'limits',
  'replacedAt',
  'revision',
  'since',
  'successor',
  'token',
  'validity',
]);

/** Equal for the same action on the same objects: UIDs are part of it, so a recreated object is another one. */
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
