import { subscribe } from 'node:diagnostics_channel';
import { type Plan, plan } from '../../../../reconcile/cluster/foresee/plan.ts';
import { summaryOf } from '../../../../reconcile/cluster/foresee/summary.ts';
import type { Decision } from '../../../../reconcile/cluster/know/decision.ts';
import type { Observation } from '../../../../reconcile/cluster/know/observation.ts';
import { type Stepped, steppedChannel } from '../../../../reconcile/cluster/step.ts';
import { askedOf, type Foreseen, type Sight } from './sight.ts';

/**
 * Foretells, in the process of an invocation, from the very observation that a step decides on: it costs no request,
 * and a plan some milliseconds.
 */
export function foretellEachStep(tell: (sight: Sight) => void): void {
  /** What each cluster's last plan while it only waits was about. */
  const foretold = new Map<string, string>();
  subscribe(steppedChannel, (message) => {
    const { observation, decision, outcome } = message as Stepped;
    // Another invocation was faster: what is done is what that one foretold.
    if (outcome === 'lost') return;
    const { metadata, status } = observation.cluster;
    const { uid = '', name, generation = 0 } = metadata;
    const asked = askedOf(observation.cluster);
    const { kind } = decision;
    const isNew = foretold.get(uid) !== asked;
    const isWorth = observation.lease.kind === 'free' && (kind === 'act' || (kind === 'wait' && isNew));
    if (isWorth) foretold.set(uid, asked);
    if (kind === 'done' || kind === 'refuse') foretold.delete(uid);
    tell({
      uid,
      name,
      at: observation.at.getTime(),
      asked,
      generation,
      decided: decidedOf(decision),
      ...(outcome === 'acted' && { acted: true }),
      history: status?.history ?? [],
      ...(status?.plan && { kept: status.plan }),
      ...(isWorth && { plan: foreseen(observation) }),
    });
  });
}

/** As long as a status remembers it. */
function asReported({ action, target, reason }: Plan['steps'][number]): Foreseen['steps'][number] {
  return { action, ...(target !== undefined && { target: target.slice(0, 253) }), reason };
}

function decidedOf({ kind, reason }: Decision): Sight['decided'] {
  return kind === 'refuse' ? { kind, reason } : { kind, reason };
}

function foreseen(observation: Observation): Foreseen {
  const whole: Plan = plan(observation);
  const { steps, end } = whole;
  return {
    summary: summaryOf(observation, whole),
    steps: steps.map(asReported),
    end: { kind: end.kind, reason: end.reason },
    ...(observation.certificates.kind === 'unread' && { isBlind: true }),
  };
}
