import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import type { Kind } from '../../../reconcile/stepping/kind.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { stepAndWait } from '../../../reconcile/stepping/loop.ts';
import type { StepResult } from '../../../reconcile/stepping/result.ts';
import { stepKinds } from '../../../reconcile/stepping/run.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';

const listed = { items: [{ metadata: { name: 'ball' } }], resourceVersion: '1' };
const rests: StepResult = { name: 'ball', reason: 'Rests', message: 'x', outcome: 'none', workRemains: false };

function toy(step: Kind['step']): Kind<KubeObject, StepResult> {
  return {
    scope: 'whole',
    after: {},
    lister: () => async () => listed,
    units: () => [],
    step,
    problem: () => 'no toys',
  };
}

function context(waitMs = 0) {
  return kindContext({ kube: createFakeKube(), waitMs, lists: createLists(new Map([['toy', async () => listed]])) });
}

test('no wait is left where the first steps took longer than the time to wait', async () => {
  const waitMs = 30;
  let steps = 0;
  const slow = toy(async () => {
    steps += 1;
    await pause(2 * waitMs);
    return [{ ...rests, workRemains: true }];
  });
  const waits: Kind['waits'] = {
    wakesOn: () => [{ key: 'ball', wakes: [{ on: 'time', afterSeconds: 0 }] }],
    isAwaited: () => true,
    again: 'all',
  };
  const never = new AbortController().signal;
  const { results } = await stepAndWait('toy', { ...slow, waits }, context(waitMs), never, async () => undefined);
  assert.deepEqual([steps, results.length], [1, 1]);
});

for (const second of ['none', 'failed', 'lost'] as const) {
  test(`what acted in a first turn is gone on with, also where the second comes out as ${second}`, async () => {
    let turns = 0;
    const made = toy(async () => {
      turns += 1;
      return [turns === 1 ? { ...rests, outcome: 'acted', workRemains: true } : { ...rests, outcome: second }];
    });
    const table = { toy: { ...made, again: { after: {}, isDue: () => true } } };
    const { workRemains, moved } = await stepKinds(table, context());
    assert.deepEqual([turns, workRemains, moved], [2, true, true]);
  });
}
