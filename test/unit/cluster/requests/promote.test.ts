import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ActContext } from '../../../../reconcile/cluster/act/actions/context.ts';
import { promote } from '../../../../reconcile/cluster/act/requests/membership.ts';
import { runLive } from '../../../../reconcile/cluster/act/requests/run-live.ts';
import { EtcdError, type Refusal } from '../../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../../reconcile/interfaces/etcd-admin.ts';

/** etcd refuses so often, then promotes. */
function etcdThat(refuses: number, why: EtcdError) {
  const asked = { times: 0 };
  const etcd = {
    promote: async () => {
      if (++asked.times <= refuses) throw why;
    },
    close: () => undefined,
  } as unknown as EtcdAdmin;
  return { asked, etcd };
}

async function promoted(etcd: EtcdAdmin, signal = new AbortController().signal): Promise<void> {
  const endpoints = new Map([['orders-1', 'http://10.0.0.1:2379']]);
  const context = { etcd: { endpoints, connect: async () => etcd }, signal } as unknown as ActContext;
  await runLive(promote({ name: 'orders-1', memberId: 'a1', clusterId: 'c1' }), context);
}

/** Time passes until it has ended. */
async function elapse(t: TestContext, done: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  done.then(end, end);
  for (let turns = 0; !ended && turns < 1000; turns++) {
    await turn();
    t.mock.timers.tick(100);
  }
}

const refusal = (reason: Refusal) => new EtcdError('etcd says no', 'refused', undefined, undefined, reason);

test('a learner that is in sync within a moment is promoted by the same request', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { etcd, asked } = etcdThat(2, refusal('NotInSync'));
  const done = promoted(etcd);
  await elapse(t, done);
  await done;
  assert.equal(asked.times, 3);
});

test('a learner that is not in sync soon is not asked for without end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { etcd, asked } = etcdThat(Number.POSITIVE_INFINITY, refusal('NotInSync'));
  const done = promoted(etcd).then(
    () => assert.fail('it was promoted'),
    (error: unknown) => error,
  );
  await elapse(t, done);
  assert.equal(((await done) as EtcdError).reason, 'NotInSync');
  assert.equal(asked.times, 11);
});

for (const [what, why] of [
  ['another refusal', refusal('NotALearner')],
  ['an answer that was lost', new EtcdError('no answer', 'ambiguous')],
] as const) {
  test(`${what} ends a promotion at once`, async () => {
    const { etcd, asked } = etcdThat(1, why);
    await assert.rejects(promoted(etcd), why);
    assert.equal(asked.times, 1);
  });
}

test('a step that is over asks for no further promotion', async () => {
  const ending = new AbortController();
  const { etcd, asked } = etcdThat(Number.POSITIVE_INFINITY, refusal('NotInSync'));
  const done = promoted(etcd, ending.signal);
  ending.abort();
  await assert.rejects(done);
  assert.equal(asked.times, 1);
});
