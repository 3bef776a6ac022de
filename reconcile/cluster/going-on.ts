import { reconcileRequestOf } from '../../manifests/build/reconcile-request.ts';
import { decide, type Situation } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Outcome } from './outcome.ts';
import { setAsideAfter } from './set-aside.ts';

/**
 * What there is to say once this step is over: where its action was refused for good, what would be decided without it, of what was seen
 * before. A person who has to see to it is told at once; and that the rest goes on, where it does.
 */
export function goingOn(situation: Situation, decision: Decision, outcome: Outcome): Decision {
  if (outcome.kind !== 'failed' || outcome.failure.class !== 'terminal') return decision;
  const { cluster } = situation;
  const asked = reconcileRequestOf(cluster);
  const status = {
    ...(cluster.status ?? { observedGeneration: -1 }),
    ...(asked !== undefined && { lastHandledReconcileAt: asked }),
    setAside: setAsideAfter(situation, decision, outcome),
  };
  return decide({ ...situation, cluster: { ...cluster, status } });
}
