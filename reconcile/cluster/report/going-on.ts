import { reconcileRequestOf } from '../../../manifests/render/reconcile-request.ts';
import { decide } from '../decide/decide.ts';
import type { Decision } from '../know/decision.ts';
import type { Outcome } from '../know/outcome.ts';
import { keyOf } from '../know/set-aside.ts';
import type { Situation } from '../know/situation.ts';
import { setAsideAfter } from './set-aside-after.ts';

/**
 * The report when this step is over: where its action was refused for good, or has failed too often in a row, it is the
 * decision without that action, from the same observation. It reaches the person at once, and that the rest
 * goes on, where it does.
 */
export function goingOn(situation: Situation, decision: Decision, outcome: Outcome): Decision {
  if (outcome.kind !== 'failed' || decision.kind !== 'act') return decision;
  const { cluster } = situation;
  const asked = reconcileRequestOf(cluster);
  const status = {
    ...(cluster.status ?? { observedGeneration: -1 }),
    ...(asked !== undefined && { lastHandledReconcileAt: asked }),
    setAside: setAsideAfter(situation, decision, outcome),
  };
  const next = decide({ ...situation, cluster: { ...cluster, status } });
  const isSame = next.kind === 'act' && keyOf(next.action) === keyOf(decision.action);
  return isSame ? decision : next;
}
