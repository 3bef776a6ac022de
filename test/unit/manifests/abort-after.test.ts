import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { abortAfter } from '../../../manifests/abort-after.ts';
import { until } from '../../e2e/support/until.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const stop = new AbortController();

async function collectAll(): Promise<void> {
  for (let turns = 0; turns < 6; turns += 1) {
    await pause(10);
    collectGarbage();
  }
}

/** As a library may, in a call that is over before its own time is. */
async function useOnce(signal: AbortSignal): Promise<void> {
  const listener = () => undefined;
  const derived = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  derived.addEventListener('abort', listener);
  await collectAll();
  derived.removeEventListener('abort', listener);
}

test('a signal aborts after its time, whatever the garbage collector takes', async () => {
  const signal = abortAfter(400, stop.signal);
  for (let calls = 0; calls < 3; calls += 1) await useOnce(signal);
  await collectAll();
  await until('it has ended', () => signal.aborted, { within: 10 });
  assert.equal((signal.reason as DOMException).name, 'TimeoutError');
});

test('the first of the others aborts a signal, with its reason, and at once where it is over', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const signal = abortAfter(60_000, first.signal, undefined, second.signal);
  second.abort('stopped');
  first.abort('late');
  assert.equal(signal.reason, 'stopped');
  assert.equal(abortAfter(60_000, first.signal).reason, 'late');
});

test('nothing is left on a signal that outlives those made of it, whatever is collected', async () => {
  const outer = new AbortController();
  const made = Array.from({ length: 50 }, () => abortAfter(100, outer.signal));
  await collectAll();
  await until('all have ended', () => made.every(({ aborted }) => aborted), { within: 10 });
  assert.deepEqual(getEventListeners(outer.signal, 'abort'), []);
});
