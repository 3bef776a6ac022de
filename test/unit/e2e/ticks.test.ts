import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertMade } from '../../e2e/support/tick.ts';
import { until } from '../../e2e/support/until.ts';
import { createWarmTicks } from '../../e2e/support/warm-ticks.ts';

const nowhere = { KUBECONFIG: '/nonexistent/kubeconfig' };

test('a wait that ticks ends at once when an invocation fails', async () => {
  await using warm = createWarmTicks(nowhere);
  let ticks = 0;
  const wait = until('anything', async () => {
    ticks++;
    await warm.tick('--wait=1');
    return false;
  });
  await assert.rejects(wait, { code: 'ERR_ASSERTION', message: /^tick --wait=1: 1; it said: .*no pass could be made/ });
  assert.equal(ticks, 1);
});

test('wrong usage of a tick is a failed test, too', async () => {
  await using warm = createWarmTicks(nowhere);
  await assert.rejects(warm.tick('--no-such-option'), { code: 'ERR_ASSERTION', message: /: 2; it said: / });
});

test('a tick may only end with what its options promise', () => {
  const ended = (code: number | null) => ({ code, stderr: 'words' });
  for (const [args, codes] of [
    [[], [0]],
    [
      ['--check', '1'],
      [0, 1],
    ],
    [['--detailed-exitcode'], [0, 3, 4]],
  ] as const) {
    for (const code of [null, 0, 1, 2, 3, 4]) {
      const may = code !== null && codes.some((one) => one === code);
      if (may) assertMade(args, ended(code));
      else assert.throws(() => assertMade(args, ended(code)), { code: 'ERR_ASSERTION', message: /words/ });
    }
  }
});
