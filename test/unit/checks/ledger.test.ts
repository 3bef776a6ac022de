import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withBegun, withEnded } from '../../../functions/checks/ledger.ts';
import type { RequestCheck } from '../../../manifests/api/etcd-fleet-status.ts';

const head = '1'.repeat(40);

function check(more: Partial<RequestCheck> = {}): RequestCheck {
  return { number: '1', head, target: 'b'.repeat(40), state: 'success', description: '', sent: true, ...more };
}

function pending(second: number): RequestCheck {
  const { sent: _, ...rest } = check({ state: 'pending', begunAt: `2026-11-21T12:00:0${second}Z` });
  return rest;
}

const other = check({ head: '2'.repeat(40), number: '2' });

test('of two that begin a check at once, one has it', () => {
  const one = { head, after: pending(1) };
  const begun = withBegun([other], one) ?? assert.fail('nobody else has it');
  assert.deepEqual(begun, [other, pending(1)]);
  assert.equal(withBegun(begun, { head, after: pending(2) }), undefined);
  const ended = withEnded(begun, [{ head, before: pending(1), after: check() }]);
  assert.deepEqual(ended, [other, check()]);
  assert.equal(withBegun(ended, { head, after: pending(2) }), undefined, 'nor after it was made since we looked');
  assert.deepEqual(withBegun(ended, { head, before: check(), after: pending(2) }), [other, pending(2)]);
});

test('a check ended by two invocations is in doubt for both, and left to the next pass', () => {
  const first = { head, before: pending(1), after: check() };
  const second = { head, before: pending(2), after: check({ state: 'failure' }) };
  const once = withEnded([pending(2)], [first]);
  assert.deepEqual(
    once.map(({ state, begunAt, sent }) => [state, begunAt, sent]),
    [['pending', undefined, undefined]],
  );
  assert.deepEqual(withEnded(once, [second]), once, 'the second one spoke at the same time');
  const late = withEnded([check({ state: 'failure' })], [first]);
  assert.equal(late[0]?.state, 'pending', 'it had spoken after the verdict that is remembered');
});

test('what was written without an answer is not written again, and the forgotten stays so', () => {
  const entry = { head, before: pending(1), after: check() };
  assert.deepEqual(withEnded(withEnded([pending(1)], [entry]), [entry]), [check()]);
  assert.deepEqual(withEnded([other], [entry]), [other]);
  assert.deepEqual(withEnded([pending(1)], [{ head, before: pending(1), after: undefined }]), []);
});

test('no more are remembered than the status may hold, and the one that is begun is among them', () => {
  const many = Array.from({ length: 100 }, (_, index) => check({ head: `${index}`.padStart(40, '0') }));
  const begun = withBegun(many, { head, after: pending(1) }) ?? assert.fail();
  assert.equal(begun.length, 100);
  assert.deepEqual(begun.at(-1), pending(1));
});

test('a check of a fork takes the room of another fork, and none of an own branch', () => {
  const many = Array.from({ length: 100 }, (_, index) =>
    check({ head: `${index}`.padStart(40, '0'), ...(index === 50 && { fork: true }) }),
  );
  const begun = withBegun(many, { head, after: { ...pending(1), fork: true } }) ?? assert.fail();
  assert.deepEqual(begun, [...many.filter(({ fork }) => !fork), { ...pending(1), fork: true }]);
});

/**
 * Passes over one head in any order, each of which may die before any of its moves: it looks, begins, says pending,
 * says its verdict, and writes it down. Each may be taken over at any time, and from then on says nothing more: its
 * time to speak ended before that.
 */
test('whenever an invocation dies, what is remembered as told is what the forge heard last', () => {
  let settled = 0;
  const moves = fc.array(fc.record({ pass: fc.nat(2), dies: fc.boolean() }), { minLength: 6, maxLength: 24 });
  fc.assert(
    fc.property(moves, (script) => {
      let live: readonly RequestCheck[] = [];
      let forge: string | undefined;
      const over = new Set<number>();
      const passes = [0, 1, 2].map((id) => run(id));
      function* run(id: number): Generator<void> {
        const before = live[0];
        const after = pending(id);
        yield;
        const begun = withBegun(live, { head, before, after });
        if (!begun) return;
        for (const other of [0, 1, 2]) if (before?.begunAt === pending(other).begunAt) over.add(other);
        live = begun;
        yield;
        if (!over.has(id)) forge = 'pending';
        yield;
        const { sent, ...verdict } = check({ description: `of ${id}` });
        const told = !over.has(id);
        if (told) forge = verdict.description;
        yield;
        live = withEnded(live, [{ head, before: after, after: { ...verdict, ...(told && { sent }) } }]);
      }
      const gone = new Set<number>();
      for (const { pass, dies } of script) {
        if (gone.has(pass)) continue;
        if (dies || passes[pass]?.next().done) gone.add(pass);
      }
      const [now] = live;
      if (gone.size < passes.length || !now?.sent) return;
      settled += 1;
      assert.equal(forge, now.description);
    }),
    { numRuns: 3000 },
  );
  assert.ok(settled > 50, `${settled} came to a verdict`);
});
