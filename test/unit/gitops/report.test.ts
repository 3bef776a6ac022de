import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgeError, type ForgeReason } from '../../../gitops/forges/error.ts';
import type { CommitStatus, Forge } from '../../../gitops/forges/forge.ts';
import { type ReportOptions, sendChanged } from '../../../gitops/statuses/report.ts';

const sha = 'a'.repeat(40);

function status(context: string, change: Partial<CommitStatus> = {}): CommitStatus {
  return { sha, context, state: 'success', description: 'converged', ...change };
}

/** A forge that answers as told, in turn and then well, and a clock that only sleeping moves. */
function scene(...answers: readonly (ForgeReason | ForgeError | 'ok')[]) {
  const left = [...answers];
  const posted: CommitStatus[] = [];
  const slept: number[] = [];
  let clock = 1_000_000;
  const forge: Pick<Forge, 'address' | 'post'> = {
    address: 'https://forge.example.com',
    async post(wanted) {
      const answer = left.shift() ?? 'ok';
      posted.push(wanted);
      if (answer instanceof ForgeError) throw answer;
      if (answer !== 'ok') throw new ForgeError(answer, `the forge says ${answer}`);
    },
  };
  const options: ReportOptions = {
    signal: new AbortController().signal,
    deadline: clock + 30_000,
    now: () => clock,
    random: () => 1,
    sleep: async (ms) => {
      slept.push(ms);
      clock += ms;
    },
  };
  return { forge, options, posted, slept };
}

test('what was never sent is sent', async () => {
  const { forge, options, posted } = scene();
  assert.deepEqual(await sendChanged(forge, [status('a'), status('b')], [], options), {
    sent: [status('a'), status('b')],
  });
  assert.equal(posted.length, 2);
});

test('what was sent before is not sent again', async () => {
  const { forge, options, posted } = scene();
  assert.deepEqual(await sendChanged(forge, [status('a')], [status('a'), status('gone')], options), {
    sent: [status('a')],
  });
  assert.deepEqual(posted, []);
});

for (const change of [
  { state: 'pending' },
  { description: 'rolling' },
  { sha: 'b'.repeat(40) },
  { targetURL: 'https://x.example.com' },
] as const) {
  test(`a change of ${Object.keys(change)} is sent`, async () => {
    const { forge, options, posted } = scene();
    await sendChanged(forge, [status('a', change)], [status('a')], options);
    assert.deepEqual(posted, [status('a', change)]);
  });
}

test('a description that is the same once cut is the same', async () => {
  const { forge, options, posted } = scene();
  const long = status('a', { description: 'word '.repeat(100) });
  const { sent } = await sendChanged(forge, [long], [], options);
  await sendChanged(forge, [long], sent, options);
  assert.equal(posted.length, 1);
  assert.ok((posted[0]?.description.length ?? 999) <= 140);
});

test('of two wanted for one context the last is sent, contexts being compared as GitHub does', async () => {
  const { forge, options, posted } = scene();
  await sendChanged(forge, [status('A', { state: 'pending' }), status('a')], [], options);
  assert.deepEqual(posted, [status('a')]);
});

test('what may have arrived without an answer is sent again, also where it is taken back', async () => {
  const { forge, options, posted } = scene(...Array.from({ length: 5 }, () => 'Timeout' as const));
  const lost = await sendChanged(forge, [status('a', { state: 'pending' })], [status('a')], options);
  assert.deepEqual(lost.sent, [{ ...status('a'), uncertain: true }]);
  const tries = posted.length;
  assert.deepEqual(await sendChanged(forge, [status('a')], lost.sent, options), { sent: [status('a')] });
  assert.equal(posted.length, tries + 1);
});

test('a failing forge is retried with growing delays, and then told as failure', async () => {
  const { forge, options, posted, slept } = scene(
    'ForgeFailing',
    'ForgeUnreachable',
    'Timeout',
    'ForgeBusy',
    'ForgeFailing',
  );
  const { sent, failure } = await sendChanged(
    forge,
    [status('a'), status('b')],
    [status('b', { state: 'pending' })],
    options,
  );
  assert.deepEqual(slept, [500, 1000, 2000, 4000]);
  assert.equal(posted.length, 5, 'nor is the next status tried');
  assert.deepEqual(sent, [status('b', { state: 'pending' })], 'what was sent before is remembered');
  assert.equal(failure?.reason, 'ForgeFailing');
});

test('a forge that recovers gets the status', async () => {
  const { forge, options, posted } = scene('ForgeFailing', 'ok');
  assert.deepEqual(await sendChanged(forge, [status('a')], [], options), { sent: [status('a')] });
  assert.equal(posted.length, 2);
});

for (const reason of [
  'ForgeUnauthorized',
  'ForgeForbidden',
  'RepositoryNotFound',
  'RedirectRefused',
  'BadAnswer',
] as const) {
  test(`${reason} ends the attempt at once, for all statuses`, async () => {
    const { forge, options, posted, slept } = scene(reason);
    const { failure } = await sendChanged(forge, [status('a'), status('b')], [], options);
    assert.equal(failure?.reason, reason);
    assert.equal(posted.length, 1);
    assert.deepEqual(slept, []);
  });
}

test('a rejected status does not stop the next one', async () => {
  const { forge, options } = scene('StatusRejected', 'ok');
  const { sent, failure } = await sendChanged(forge, [status('a'), status('b')], [], options);
  assert.deepEqual(sent, [status('b')]);
  assert.equal(failure?.reason, 'StatusRejected');
});

test('the forge’s own waiting time is kept to', async () => {
  const { forge, options, slept } = scene(new ForgeError('RateLimited', 'slow down', { retryAt: 1_007_000 }));
  assert.deepEqual((await sendChanged(forge, [status('a')], [], options)).sent, [status('a')]);
  assert.deepEqual(slept, [7000]);
});

test('a waiting time beyond the budget is not waited for, and it is said until when', async () => {
  const { forge, options, slept, posted } = scene(new ForgeError('RateLimited', 'slow down', { retryAt: 4_601_000 }));
  const { failure } = await sendChanged(forge, [status('a'), status('b')], [], options);
  assert.deepEqual(failure, {
    reason: 'RateLimited',
    message: 'slow down until 1970-01-01T01:17Z',
    retryAt: 4_601_000,
  });
  assert.deepEqual(slept, []);
  assert.equal(posted.length, 1);
});

test('without time left nothing is tried', async () => {
  const { forge, options, posted } = scene();
  const { failure } = await sendChanged(forge, [status('a')], [], { ...options, deadline: 0 });
  assert.equal(failure?.reason, 'Timeout');
  assert.deepEqual(posted, []);
});

test('an aborted invocation stops waiting', async () => {
  const { forge, options } = scene('ForgeFailing');
  const aborted = new AbortController();
  const { sleep: _, ...real } = options;
  const report = sendChanged(forge, [status('a')], [], { ...real, signal: aborted.signal });
  aborted.abort();
  assert.ok((await report).failure);
});

test('a mistake of ours is not taken for the forge’s', async () => {
  const { options } = scene();
  const forge: Pick<Forge, 'address' | 'post'> = { address: 'x', post: () => Promise.reject(new TypeError('ours')) };
  await assert.rejects(sendChanged(forge, [status('a')], [], options), TypeError);
});
