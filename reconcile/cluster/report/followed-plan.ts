import type { ClusterPlan } from '../../../manifests/api/etcd-cluster-status.ts';
import { targetOf } from '../act/act.ts';
import type { Decision } from '../know/decision.ts';
import type { Outcome } from '../know/outcome.ts';
import type { Taken } from '../know/plan/as-foretold.ts';
import { askedOf, begun, type Foretold, followed, longestTarget } from '../know/plan/followed.ts';
import type { Situation } from '../know/situation.ts';

/** What becomes of the plan by this look. @param foretold where one begins with it */
export function planAfter(
  situation: Situation,
  decision: Decision,
  outcome: Outcome,
  foretold: Foretold | undefined,
): ClusterPlan | undefined {
  const { cluster } = situation;
  const plan = foretold ? begun(foretold, situation) : cluster.status?.plan;
  // Something else is asked, and there was nothing to do for it.
  if (plan?.asked !== askedOf(cluster)) return undefined;
  // All that there was to do was to wait.
  if (plan.state === 'Pending' && decision.kind === 'done') return undefined;
  const step = stepOf(decision, outcome);
  const unreported = unreportedIn(situation);
  return followed(plan, { decision, ...(step && { step }), ...(unreported && { unreported }) });
}

function stepOf(decision: Decision, outcome: Outcome): Taken | undefined {
  if (decision.kind !== 'act' || (outcome.kind !== 'acted' && outcome.kind !== 'failed')) return undefined;
  const target = targetOf(decision.action)?.slice(0, longestTarget);
  const reason = outcome.kind === 'failed' ? outcome.failure.reason : decision.reason;
  return { action: decision.action.kind, ...(target !== undefined && { target }), reason, outcome: outcome.kind };
}

function unreportedIn({ lease, cluster }: Situation) {
  const step = lease.kind === 'abandoned' ? cluster.status?.step : undefined;
  return (
    step && { action: step.action, ...(step.target !== undefined && { target: step.target }), reason: step.reason }
  );
}
