import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decision, refuse, wait } from '../../../reconcile/cluster/know/decision.ts';
import { quietSeconds } from '../../../reconcile/cluster/quiet.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { isAwaited, isNews } from '../../../reconcile/stepping/kind.ts';
import { pauseSeconds } from '../../../reconcile/stepping/pause.ts';
import { clusterOf } from '../fleet/objects.ts';

const now = new Date('2026-05-01T10:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();
const waiting = wait('MemberStarting', 'members start');

interface Facts {
  readonly decision?: Decision;
  readonly outcome?: ClusterResult['outcome'];
  readonly created?: number;
  readonly acted?: number;
  readonly turned?: number;
}

function result({ decision = waiting, outcome = 'none', created = 9_000, acted, turned }: Facts): ClusterResult {
  const cluster = clusterOf('orders');
  const entry = { action: 'seal', reason: 'x', message: 'x', outcome: 'acted', generation: 1 } as const;
  const condition = { type: 'Ready', status: 'False', reason: 'x', message: 'x', observedGeneration: 1 } as const;
  return {
    namespace: 'payments',
    name: 'orders',
    decision,
    reason: decision.reason,
    message: decision.message,
    outcome,
    workRemains: decision.kind === 'wait' || decision.kind === 'act',
    cluster: {
      ...cluster,
      metadata: { ...cluster.metadata, creationTimestamp: ago(created) },
      status: {
        ...cluster.status,
        ...(acted !== undefined && {
          history: [
            { ...entry, at: ago(acted + 50) },
            { ...entry, at: ago(acted) },
          ],
        }),
        conditions: turned === undefined ? [] : [{ ...condition, lastTransitionTime: ago(turned) }],
      },
    } as ClusterResult['cluster'],
  };
}

test('quiet is as long as nothing was created, done, or turned', () => {
  const quiet = (...facts: readonly Facts[]) => quietSeconds(facts.map(result), now);
  assert.equal(quiet({ created: 100 }), 100);
  assert.equal(quiet({ acted: 40, turned: 60 }), 40);
  assert.equal(quiet({ acted: 60, turned: 40 }), 40);
  assert.equal(quiet({ acted: 60 }, { acted: 30 }), 30, 'of several the last');
  assert.equal(quiet({ acted: -5 }), 0, 'clocks differ');
});

test('while any invocation acts it is not quiet', () => {
  const held = wait('AnotherInvocationActs', 'somebody acts');
  for (const facts of [{ outcome: 'acted' }, { outcome: 'lost' }, { decision: held }] as const)
    assert.equal(quietSeconds([result({}), result(facts)], now), 0);
});

test('looks that only the clock asks for come after an eighth of the quiet, a minute at most', () => {
  assert.deepEqual([0, 16, 80, 480, 9_000, Number.POSITIVE_INFINITY].map(pauseSeconds), [0, 2, 10, 60, 60, 60]);
});

test('after eight quiet minutes what merely waits is left to the ticks', () => {
  const awaited = (...facts: readonly Facts[]) => isAwaited(kinds, { cluster: facts.map(result) }, now);
  assert.deepEqual([awaited({ acted: 479 }), awaited({ acted: 480 }), awaited({})], [true, false, false]);
  assert.equal(awaited({ created: 5 }), true);
  assert.equal(awaited({ acted: 5, decision: refuse('NameTaken', 'x', 'x') }), false, 'a person must do something');
  assert.equal(awaited({}, { acted: 5, decision: refuse('NameTaken', 'x', 'x') }), true, 'it may have made room');
  assert.equal(isAwaited(kinds, { cluster: [] }, now), false);
});

test('a failure is news of another invocation, not of the follow-up that could not cure it', () => {
  const failed = { moved: false, unsettled: true };
  assert.deepEqual([isNews(failed, false), isNews(failed, true)], [true, false]);
  assert.deepEqual(
    [isNews({ moved: true, unsettled: false }, true), isNews({ moved: false, unsettled: false }, false)],
    [true, false],
  );
});
