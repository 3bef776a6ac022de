import type { Event } from '../../manifests/kube-types.ts';
import { type Kube, resources } from '../kube.ts';
import type { Situation } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Outcome } from './outcome.ts';

/**
 * One event for every step that was carried out, and one when something begins to need a person: `kubectl describe` then
 * reads like a log. Nothing for a state that merely lasts.
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
  const { name, namespace = '', uid = '' } = cluster.metadata;
  await kube.create<Event>(
    resources.events,
    {
      apiVersion: resources.events.apiVersion,
      kind: resources.events.kind,
      metadata: { name: `${name}.${at.getTime().toString(16)}${nonce.slice(0, 8)}`, namespace },
      eventTime: `${at.toISOString().slice(0, -1)}000Z`,
      reportingController: 'etcd.ratchet.dev/etcd-ratchet',
      reportingInstance: 'etcd-ratchet',
      action: news.action,
      reason: news.reason,
      note: news.note.slice(0, 1000),
      type: news.type,
      regarding: { apiVersion: resources.clusters.apiVersion, kind: resources.clusters.kind, namespace, name, uid },
    },
    { signal },
  );
}

interface News {
  readonly type: 'Normal' | 'Warning';
  readonly action: string;
  readonly reason: string;
  readonly note: string;
}

function newsOf({ cluster }: Situation, decision: Decision, outcome: Outcome): News | undefined {
  const ready = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  if (outcome.kind === 'failed') {
    const { reason, message } = outcome.failure;
    if (outcome.failure.class === 'precondition' || ready?.message === message) return undefined;
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
      note: `${decision.message}. To go on: ${decision.cure}`,
    };
  }
  if (decision.kind === 'done' && ready?.reason !== decision.reason) {
    return { type: 'Normal', action: 'Rest', reason: decision.reason, note: decision.message };
  }
  return undefined;
}
