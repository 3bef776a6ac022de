import type { Kube } from '../../interfaces/kube.ts';
import { type ClusterNews, writeEvent } from '../../objects/event.ts';
import { withCure } from '../../reasons/cure.ts';
import type { Decision } from '../know/decision.ts';
import type { Outcome } from '../know/outcome.ts';
import { entryFor } from '../know/set-aside.ts';
import type { Situation } from '../know/situation.ts';

/**
 * One event for every step that was carried out, and one when something begins to need a person: `kubectl describe`
 * then reads like a log. Nothing for a state that merely lasts.
 *
 * @throws {KubeError}
 */
export async function recordEvent(
  kube: Kube,
  situation: Situation,
  decision: Decision,
  outcome: Outcome,
  signal: AbortSignal,
): Promise<void> {
  const news = newsOf(situation, decision, outcome);
  if (!news) return;
  const { cluster, at, nonce } = situation;
  const id = `${at.getTime().toString(16)}${nonce.slice(0, 8)}`;
  await writeEvent(kube, cluster, news, { id, at, signal });
}

function newsOf({ cluster }: Situation, decision: Decision, outcome: Outcome): ClusterNews | undefined {
  const ready = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  if (outcome.kind === 'failed') {
    const { reason, message } = outcome.failure;
    if (outcome.failure.class === 'precondition' || ready?.message === message) return undefined;
    const known = decision.kind === 'act' ? entryFor(decision.action, cluster.status?.setAside ?? []) : undefined;
    if (known?.message === message) return undefined;
    return { type: 'Warning', action: 'Act', reason, note: message };
  }
  if (decision.kind === 'act' && outcome.kind === 'acted') {
    return { type: 'Normal', action: decision.action.kind, reason: decision.reason, note: decision.message };
  }
  if (decision.kind === 'refuse' && ready?.reason !== decision.reason) {
    return {
      type: 'Warning',
      action: 'Refuse',
      reason: decision.reason,
      note: withCure(decision.message, decision.cure),
    };
  }
  if (decision.kind === 'done' && ready?.reason !== decision.reason) {
    return { type: 'Normal', action: 'Rest', reason: decision.reason, note: decision.message };
  }
  return undefined;
}
