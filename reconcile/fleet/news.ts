import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import type { Condition } from '../../manifests/api/metadata.ts';
import { conditionOf } from '../objects/conditions.ts';
import type { ClusterNews } from '../objects/event.ts';

/**
 * What a report says that the one before did not: a commit that is applied, the beginning and the end of what needs a
 * person, a forge that is not told. Nothing of a state that merely lasts. Pure.
 */
export function fleetNews(before: EtcdFleetStatus | undefined, after: EtcdFleetStatus): readonly ClusterNews[] {
  return [...appliedNews(before, after), ...stalledNews(before, after), ...forgeNews(before, after)];
}

function appliedNews(before: EtcdFleetStatus | undefined, after: EtcdFleetStatus): readonly ClusterNews[] {
  const [now] = after.history ?? [];
  const [last] = before?.history ?? [];
  if (now?.outcome !== 'Applied' || (last?.revision === now.revision && last.outcome === 'Applied')) return [];
  return [{ type: 'Normal', action: 'Apply', reason: 'Applied', note: `${now.revision} is applied` }];
}

function stalledNews(before: EtcdFleetStatus | undefined, after: EtcdFleetStatus): readonly ClusterNews[] {
  const stalled = conditionOf(after, 'Stalled');
  const ready = conditionOf(after, 'Ready');
  if (isTrue(stalled)) {
    // Of another commit it is another problem, though its word be the same.
    const isOfSame = before?.history?.[0]?.revision === after.history?.[0]?.revision;
    const lasts = isTrue(conditionOf(before, 'Stalled'), stalled.reason) && isOfSame;
    return lasts ? [] : [warning('Refuse', stalled)];
  }
  if (!isTrue(ready) || isTrue(conditionOf(before, 'Ready'), ready.reason)) return [];
  return [{ type: 'Normal', action: 'Rest', reason: ready.reason, note: ready.message }];
}

function forgeNews(before: EtcdFleetStatus | undefined, after: EtcdFleetStatus): readonly ClusterNews[] {
  const told = conditionOf(after, 'StatusesReported');
  const last = conditionOf(before, 'StatusesReported');
  if (told?.status !== 'False' || (last?.status === 'False' && last.reason === told.reason)) return [];
  return [warning('Report', told)];
}

function warning(action: string, { reason, message }: Condition): ClusterNews {
  return { type: 'Warning', action, reason, note: message };
}

function isTrue(condition: Condition | undefined, reason = condition?.reason): condition is Condition {
  return condition?.status === 'True' && condition.reason === reason;
}
