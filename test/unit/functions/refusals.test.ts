import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decision, done, refuse, wait, wakesOn } from '../../../reconcile/cluster/know/decision.ts';
import { wakesOf } from '../../../reconcile/cluster/quiet.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { meanings } from '../../../reconcile/reasons/reasons.ts';
import { type RefusalReason, refusalIn, refusals } from '../../../reconcile/reasons/refusals.ts';
import { isAwaited } from '../../../reconcile/stepping/kind.ts';
import { clusterOf } from '../fleet/objects.ts';

const now = new Date('2026-05-01T10:00:00Z');
const reasons = Object.keys(refusals) as RefusalReason[];

/** As a step leaves it, when nothing has happened for so many seconds. */
function left(decision: Decision, quiet: number): ClusterResult {
  const cluster = clusterOf('orders');
  const creationTimestamp = new Date(now.getTime() - quiet * 1000).toISOString();
  return {
    namespace: 'payments',
    name: 'orders',
    decision,
    reason: decision.reason,
    message: decision.message,
    outcome: 'none',
    workRemains: decision.kind === 'wait' || wakesOn(decision).length > 0,
    cluster: { ...cluster, metadata: { ...cluster.metadata, creationTimestamp }, status: { observedGeneration: 1 } },
  };
}

function goesOn(decision: Decision, quiet: number): boolean {
  return isAwaited(kinds, { cluster: [left(decision, quiet)] }, now);
}

test('every reason of a refusal says what ends it, and a chain goes on for what ends by itself', () => {
  for (const reason of reasons) {
    const refused = refuse(reason, 'x', 'x');
    const ends = refusals[reason] === 'itself';
    assert.ok(Object.hasOwn(meanings, reason), reason);
    assert.equal(goesOn(refused, 30), ends, reason);
    assert.equal(goesOn(refused, 480), false, `${reason}: after eight quiet minutes ticks are enough`);
    const wakes = wakesOf(left(refused, 30));
    assert.equal(wakes.some(({ on }) => on === 'time') && wakes.some(({ on }) => on === 'change'), ends, reason);
    // Whatever else is told with it.
    assert.equal(goesOn({ ...done('Converged', 'x'), besides: [refused] }, 30), ends, `${reason}, besides`);
  }
  const counts = Map.groupBy(reasons, (reason) => refusals[reason]);
  for (const ending of ['itself', 'retried', 'person'] as const) assert.ok((counts.get(ending)?.length ?? 0) >= 20);
});

test('a reason that does not say what ends it cannot be refused for', () => {
  // @ts-expect-error a step is no refusal
  refuse('SealingMembers', 'x', 'x');
  assert.equal(refusalIn('SealingMembers'), 'OfAnotherRelease');
  assert.equal(refusalIn('toString'), 'OfAnotherRelease');
  assert.equal(refusalIn('NameTaken'), 'NameTaken');
});

test('a wait is looked at as it says itself, whatever is told besides', () => {
  const wakes = [{ on: 'time', afterSeconds: 7 }] as const;
  const decision = { ...wait('MemberStarting', 'x', ...wakes), besides: [refuse('PodStays', 'x', 'x')] };
  assert.deepEqual(wakesOf(left(decision, 30)), wakes);
});
