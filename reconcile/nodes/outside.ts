import type { EtcdNodePolicySpec } from '../../manifests/api/etcd-node-policy.ts';
import { isRecord, jsonIn } from '../../manifests/json.ts';
import type { AlertsSeen } from './observation.ts';

/** What Prometheus says is firing, and whether it keeps nodes from their reboot. Pure. */

type Blocking = NonNullable<EtcdNodePolicySpec['blockedByAlerts']>;

/** Of more alerts than this, the first are named. */
const mostNames = 100;

/** @param text an answer of `GET /api/v1/alerts` (https://prometheus.io/docs/prometheus/latest/querying/api/#alerts) */
export function alertsIn(text: string, { labels = {}, ignore = [] }: Omit<Blocking, 'url'>): AlertsSeen {
  const alerts = listIn(text);
  if (!alerts) return { kind: 'unreadable', why: 'the answer is not one of the Prometheus API' };
  const ignored = new Set(ignore);
  const names = new Set<string>();
  for (const alert of alerts) {
    const { state, labels: found } = alert;
    if (!isRecord(found)) return { kind: 'unreadable', why: 'the answer has an alert without labels' };
    const { alertname: name } = found;
    if (state !== 'firing' || Object.entries(labels).some(([key, value]) => found[key] !== value)) continue;
    // An alert without a name can't be ignored by its name.
    const shown = typeof name === 'string' ? plain(name) : '(without a name)';
    if (!ignored.has(shown) && names.size < mostNames) names.add(shown);
  }
  return { kind: 'read', names: [...names].toSorted() };
}

function listIn(text: string): readonly Readonly<Record<string, unknown>>[] | undefined {
  const found = jsonIn(text);
  const data = isRecord(found) && found.status === 'success' ? found.data : undefined;
  const alerts = isRecord(data) ? data.alerts : undefined;
  return Array.isArray(alerts) && alerts.every(isRecord) ? alerts : undefined;
}

/** Names are letters, digits and "_" by convention only. */
function plain(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ').slice(0, 100);
}

/** kured's lock: an annotation of its DaemonSet, of one node or several; an expired lock does not count. Pure. */

export const kuredLockAnnotation = 'weave.works/kured-node-lock';

/** @returns the nodes that hold it; {@link unreadable} stands for one that can't be told. */
export function kuredHolders(text: string | undefined, at: Date): readonly string[] {
  if (text === undefined) return [];
  const found = jsonIn(text);
  if (!isRecord(found)) return [unreadable];
  const locks: readonly unknown[] = Array.isArray(found.locks) ? found.locks : 'nodeID' in found ? [found] : [];
  return locks.flatMap((lock) => holderOf(lock, at) ?? []);
}

const unreadable = 'a node that can not be read from it';

function holderOf(lock: unknown, at: Date): string | undefined {
  if (!isRecord(lock)) return unreadable;
  const { nodeID, created, TTL: nanoseconds } = lock;
  const since = typeof created === 'string' ? Date.parse(created) : Number.NaN;
  const isOver = typeof nanoseconds === 'number' && nanoseconds > 0 && at.getTime() - since >= nanoseconds / 1_000_000;
  if (isOver) return undefined;
  // As a Node is named, and nothing else.
  return typeof nodeID === 'string' && /^[a-z0-9.-]{1,253}$/.test(nodeID) ? nodeID : unreadable;
}
