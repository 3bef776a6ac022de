import type { NodesDecision } from '../../../reconcile/nodes/decision.ts';
import { createFingerprints, keyOf } from '../search/fingerprint.ts';
import type { Model } from '../search/search.ts';
import { judge } from './invariants.ts';
import { createInvocations, type NodesCode } from './invocation.ts';
import { look } from './look.ts';
import { createRest } from './rest.ts';
import type { NodesScenario } from './scenarios.ts';
import type { NodesEvent, NodesState, NodesWorld } from './state.ts';
import { successors } from './transitions.ts';

/** A scenario of nodes that reboot as something that can be searched; without `convergence`, for safety alone. */
export function nodesModelOf(
  { world, faults, atMost }: NodesScenario,
  code: NodesCode,
  { convergence = true } = {},
): Model<NodesState, NodesEvent> {
  const fingerprints = createFingerprints();
  const decisions = new Map<number, NodesDecision>();
  const rules = { decide, invocations: createInvocations(code, decide) };
  return {
    initial: { world: world(), acting: [], left: { faults, total: atMost } },
    fingerprint: fingerprints.ofWhole,
    successors: (state, visit) => successors(state, rules, visit),
    judge,
    examine: convergence ? createRest(rules, fingerprints) : () => undefined,
    describe: ({ who, what }) =>
      who === 'fault' ? `FAULT: ${what}` : who === 'world' || who === 'time' ? what : `${who}: ${what}`,
  };

  function decide(seen: NodesWorld): NodesDecision {
    const key = keyOf(fingerprints.take(seen));
    let decision = decisions.get(key);
    if (!decision) {
      decision = code.decide(look(seen));
      if (decisions.size > 200_000) decisions.clear();
      decisions.set(key, decision);
    }
    return decision;
  }
}
