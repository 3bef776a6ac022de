import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { bugs, scenarioOf } from '../../explore/bugs.ts';
import { realCode } from '../../explore/model/code.ts';
import { modelOf } from '../../explore/model/model.ts';
import { nodesBugs } from '../../explore/nodes/bugs.ts';
import { explorePrunes } from '../../explore/prunes.ts';
import { run } from '../../explore/run.ts';
import { search } from '../../explore/search/search.ts';
import { partOf } from '../../run/part.ts';

/** Twice what the longest takes. By states alone: a busy machine takes minutes for what takes seconds here. */
const limits = { states: 80_000, time: Number.POSITIVE_INFINITY };

describe('a bug that is put in on purpose is found', () => {
  for (const bug of partOf(bugs)) {
    test(`${bug.violates}: ${bug.what}`, () => {
      const { found, states } = run({ scenario: bug.scenario, bug: bug.name, ...limits });
      assert.equal(found?.violation.invariant, bug.violates);
      assert.notEqual(found?.story.length, 0);
      // The same search of the real rules finds nothing, as far as it went.
      const real = search(modelOf(scenarioOf(bug), realCode()), { ...limits, states: Math.min(states, 3000) });
      assert.equal(real.found, undefined);
    });
  }

  for (const bug of partOf(nodesBugs)) {
    test(`nodes, ${bug.violates}: ${bug.what}`, () => {
      const { found } = run({ scenario: bug.scenario, bug: bug.name, ...limits });
      assert.equal(found?.violation.invariant, bug.violates, found?.violation.message);
      assert.notEqual(found?.story.length, 0);
    });
  }

  test('I8: another fleet is not asked whether it lists what is to go', () => {
    const { found } = explorePrunes((input) => planFleet({ ...input, fleets: [input.fleet] }));
    assert.equal(found?.violation.invariant, 'I8');
  });
});
