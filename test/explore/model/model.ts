import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import { createConvergence } from '../ideal.ts';
import { judge } from '../invariants.ts';
import { tellsOutages } from '../outage-invariants.ts';
import type { Scenario } from '../scenario.ts';
import { createFingerprints, keyOf } from '../search/fingerprint.ts';
import type { Model, Violation } from '../search/search.ts';
import type { Code } from './code.ts';
import { describeEvent, type Event } from './event.ts';
import { decideIn } from './invocation.ts';
import type { State, World } from './state.ts';
import { type Rules, successors } from './transitions.ts';
import { beginning } from './worlds.ts';

/** A scenario as something that can be searched; without `convergence`, for safety alone. */
export function modelOf(scenario: Scenario, code: Code, { convergence = true } = {}): Model<State, Event> {
  const fingerprints = createFingerprints();
  const { take, ofWhole } = fingerprints;
  const decisions = new Map<number, Decision>();
  const reported = new Set<number>();
  const rules: Rules = { code, changes: scenario.changes, decide };
  const { faults, atMost, changes } = scenario;
  return {
    initial: beginning(scenario.world(), { changes: changes.length, faults, total: atMost }),
    fingerprint: ofWhole,
    successors: (state, visit) => successors(state, rules, visit),
    judge: (before, event, after) =>
      judge(before, event, after) ?? (before.world === after.world ? undefined : judgeReport(after.world)),
    examine: convergence ? createConvergence(rules, fingerprints) : () => undefined,
    describe: describeEvent,
  };

  /** Once for each world, as far as it is remembered. */
  function judgeReport(world: World): Violation | undefined {
    const key = keyOf(take(world));
    if (reported.has(key)) return undefined;
    if (reported.size > 200_000) reported.clear();
    reported.add(key);
    const message = tellsOutages(world, code, decide);
    return message === undefined ? undefined : { invariant: 'I15', message };
  }

  /** Most worlds are looked at more than once. 53 bits tell them apart. */
  function decide(world: World): Decision {
    const key = keyOf(take(world));
    let decision = decisions.get(key);
    if (!decision) {
      decision = decideIn(world, code);
      if (decisions.size > 200_000) decisions.clear();
      decisions.set(key, decision);
    }
    return decision;
  }
}
