import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodesScenarios } from '../../explore/nodes/scenarios.ts';
import { run } from '../../explore/run.ts';

/** By states alone: a busy machine takes longer. Most scenarios are searched to the end with fewer. */
const limits = { states: 4000, time: Number.POSITIVE_INFINITY };

for (const { name } of nodesScenarios) {
  test(`${name}: nothing that must never happen, and all come to rest`, () => {
    const { found, complete, states } = run({ scenario: name, ...limits });
    assert.equal(found, undefined, [found?.violation.message, ...(found?.story ?? [])].join('\n'));
    assert.ok(complete || states >= limits.states);
  });
}
