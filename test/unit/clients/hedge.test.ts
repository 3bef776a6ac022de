import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hedge } from '../../../reconcile/clients/etcd-reading.ts';

const never = (signal: AbortSignal) =>
  new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('the first that answers is the only one asked', async () => {
  const asked: string[] = [];
  const settled = await hedge(['a', 'b'], attempt(asked, {}), {
    patienceMs: 1_000,
    signal: AbortSignal.timeout(2_000),
  });
  assert.deepEqual(settled, { kind: 'first', value: 'a' });
  assert.deepEqual(asked, ['a']);
});

test('one that fails lets the next start at once', async () => {
  const asked: string[] = [];
  const failing = attempt(asked, { a: () => Promise.reject(new Error('no')) });
  const settled = await hedge(['a', 'b'], failing, { patienceMs: 60_000, signal: AbortSignal.timeout(2_000) });
  assert.deepEqual(settled, { kind: 'first', value: 'b' });
});

test('one that hangs lets the next start beside it, and is stopped by its success', async () => {
  const asked: string[] = [];
  let stopped = false;
  const hanging = (signal: AbortSignal) => never(signal).finally(() => (stopped = true));
  const settled = await hedge(['a', 'b'], attempt(asked, { a: hanging }), {
    patienceMs: 5,
    signal: AbortSignal.timeout(2_000),
  });
  assert.deepEqual(settled, { kind: 'first', value: 'b' });
  await new Promise(setImmediate);
  assert.ok(stopped);
});

test('a slow one still counts if it is first in the end', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const asked: string[] = [];
  const second = () => {
    resolve('late a');
    return Promise.reject(new Error('no'));
  };
  const answers = { a: () => promise, b: second };
  const settled = await hedge(['a', 'b'], attempt(asked, answers), {
    patienceMs: 5,
    signal: AbortSignal.timeout(2_000),
  });
  assert.deepEqual(settled, { kind: 'first', value: 'late a' });
});

test('when all fail, every error is kept', async () => {
  const no = (name: string) => () => Promise.reject(new Error(name));
  const answers = { a: no('a'), b: no('b'), c: no('c') };
  const settled = await hedge(['a', 'b', 'c'], attempt([], answers), {
    patienceMs: 5,
    signal: AbortSignal.timeout(2_000),
  });
  assert.ok(settled.kind === 'none');
  assert.deepEqual(settled.errors.map(String), ['Error: a', 'Error: b', 'Error: c']);
});

test('the signal ends it, and no further endpoint is asked', async () => {
  const asked: string[] = [];
  const answers = { a: never, b: never };
  const settled = await hedge(['a', 'b'], attempt(asked, answers), {
    patienceMs: 60_000,
    signal: AbortSignal.timeout(20),
  });
  assert.equal(settled.kind, 'none');
  assert.deepEqual(asked, ['a']);
  assert.deepEqual(await hedge(['a'], attempt(asked, {}), { patienceMs: 5, signal: AbortSignal.abort() }), {
    kind: 'none',
    errors: [],
  });
  assert.deepEqual(asked, ['a']);
});

test('of no endpoint, there is none', async () => {
  const settled = await hedge([], attempt([], {}), { patienceMs: 5, signal: AbortSignal.timeout(2_000) });
  assert.deepEqual(settled, { kind: 'none', errors: [] });
});

function attempt(asked: string[], answers: Readonly<Record<string, (signal: AbortSignal) => Promise<string>>>) {
  return (candidate: string, signal: AbortSignal) => {
    asked.push(candidate);
    return answers[candidate]?.(signal) ?? Promise.resolve(candidate);
  };
}
