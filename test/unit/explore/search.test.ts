import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { createFingerprints, keyOf } from '../../explore/search/fingerprint.ts';
import { type Model, retell, search } from '../../explore/search/search.ts';
import { createSeen } from '../../explore/search/seen.ts';

/** A clock with a hand of `size` positions, which may go one or two forward, and must not stand at `forbidden`. */
function clock(size: number, forbidden = -1): Model<number, string> {
  return {
    initial: 0,
    fingerprint: createFingerprints().take,
    successors: (at, visit) => {
      visit('one', (at + 1) % size);
      visit('two', (at + 2) % size);
    },
    judge: (_, __, after) =>
      after === forbidden ? { invariant: 'clock', message: `it stands at ${after}` } : undefined,
    examine: () => undefined,
    describe: (event) => event,
  };
}

const limits = { states: 10_000, time: 20_000 };

describe('a search', () => {
  test('reaches everything there is, once', () => {
    assert.deepEqual(search(clock(100), limits), { states: 100, transitions: 200, depth: 50, complete: true });
  });

  test('tells the shortest way to a violation', () => {
    const { found, complete } = search(clock(100, 7), limits);
    assert.equal(complete, false);
    assert.equal(found?.violation.message, 'it stands at 7');
    assert.deepEqual(found?.story, ['one', 'two', 'two', 'two']);
  });

  test('ends at its limit, and says so', () => {
    const { states, complete } = search(clock(5000), { states: 1000, time: 20_000 });
    assert.ok(states >= 1000 && states < 1003);
    assert.equal(complete, false);
  });

  test('tells a way again', () => {
    assert.deepEqual(retell(clock(100), [0, 1, 1]), ['one', 'two', 'two']);
  });
});

describe('a fingerprint', () => {
  const { take } = createFingerprints();

  test('is that of the fields, in whatever order they were written', () => {
    assert.deepEqual(take({ a: 1, b: ['x', true], c: undefined }), take({ b: ['x', true], a: 1 }));
  });

  test('property: is another one for whatever is not equal', () => {
    const things = fc.array(fc.jsonValue(), { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(things, ([a, b]) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        assert.equal(keyOf(take(a)) === keyOf(createFingerprints().take(b)), same);
      }),
      { numRuns: 3000 },
    );
  });

  test('is remembered among many', () => {
    const seen = createSeen();
    for (let index = 0; index < 50_000; index += 1) assert.equal(seen.add(take({ index })), index);
    assert.equal(seen.add(take({ index: 49_999 })), -1);
    assert.equal(seen.has(take({ index: 50_000 })), false);
    assert.equal(seen.size, 50_000);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}
