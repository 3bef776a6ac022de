import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../../../reconcile/interfaces/kube.ts';
import { inTime, patiently } from '../../../reconcile/stepping/patience.ts';

function away(kind: KubeError['class'] = 'retryable') {
  return new KubeError('LIST pods: no answer', { class: kind, status: undefined, reason: 'Timeout' });
}

function asked(failures: readonly unknown[]) {
  const left = [...failures];
  const told: string[] = [];
  let times = 0;
  return {
    times: () => times,
    told,
    log: ({ problem }: { problem?: unknown }) => told.push(String(problem)),
    ask: async () => {
      times += 1;
      const failure = left.shift();
      if (failure !== undefined) throw failure;
      return 'there';
    },
  };
}

test('an API server that is away for a moment is asked again, and each time is told', async () => {
  const { ask, log, told } = asked([away(), away()]);
  assert.equal(await patiently({ log, until: AbortSignal.timeout(5_000), pauseMs: 1 }, ask), 'there');
  assert.deepEqual(told, ['LIST pods: no answer', 'LIST pods: no answer']);
});

test('without time to wait, the first failure is the last', async () => {
  const { ask, log, times } = asked([away()]);
  await assert.rejects(patiently({ log, until: AbortSignal.abort() }, ask), KubeError);
  assert.equal(times(), 1);
});

test('a time that is over in the midst of a pause ends it after one more look', async () => {
  const { ask, log, times } = asked([away(), away(), away()]);
  await assert.rejects(patiently({ log, until: AbortSignal.timeout(5), pauseMs: 60_000 }, ask), KubeError);
  assert.equal(times(), 2);
});

for (const [what, failure] of [
  ['a refusal', away('terminal')],
  ['a mistake of ours', new TypeError('no such field')],
] as const) {
  test(`${what} is not asked for twice`, async () => {
    const { ask, log, times } = asked([failure]);
    await assert.rejects(patiently({ log, until: AbortSignal.timeout(5_000) }, ask), failure);
    assert.equal(times(), 1);
  });
}

test('where going on without an answer is better, the end of the time is no failure', async () => {
  const { ask, log, told } = asked([away()]);
  assert.equal(await inTime({ log, until: AbortSignal.abort() }, ask), undefined);
  assert.deepEqual(told, ['LIST pods: no answer']);
  assert.equal(await inTime({ log, until: AbortSignal.abort() }, ask), 'there');
  const refused = asked([away('terminal')]);
  await assert.rejects(inTime({ log, until: AbortSignal.abort() }, refused.ask), KubeError);
});
