import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaySeconds, riskOf } from '../../../reconcile/cluster/foresee/risk.ts';
import { bornWith } from '../../support/world/born.ts';
import { tickUntilConverged } from '../../support/world/converge.ts';

for (const [replicas, left] of [
  [1, 'no client is served while its only member starts anew'],
  [2, '1 of 2 voters are left while a member starts anew: no quorum answers then'],
  [3, '2 of 3 voters are left while a member starts anew: the loss of another stops writes'],
  [5, '4 of 5 voters are left while a member starts anew: 1 more may be lost'],
] as const)
  test(`a plan that restarts members of ${replicas} says what is left meanwhile`, async () => {
    const world = await bornWith({ replicas });
    const planned = await world.plan({ replicas, etcd: { snapshotCount: 100 } });
    assert.equal(planned.planned?.risk, left);
    const grown = await world.plan({ replicas: replicas + 1 });
    assert.equal(grown.planned?.risk, undefined, 'nothing restarts');
    assert.equal(
      riskOf({ membership: { kind: 'unknown', because: 'x' }, cluster: {} } as never, planned.planned?.steps ?? [], 3),
      undefined,
    );
  });

for (const [from, to, left] of [
  [5, 3, '3 of 5 voters are left in the end: 1 may be lost'],
  [3, 2, '2 of 3 voters are left in the end: the loss of one stops writes'],
  [3, 1, '1 of 3 voters are left in the end: the loss of one stops writes'],
] as const)
  test(`a plan that takes ${from} members to ${to} says what is left in the end`, async () => {
    const world = await bornWith({ replicas: from });
    assert.equal((await world.plan({ replicas: to })).planned?.risk, left);
    const both = await world.plan({ replicas: to, etcd: { snapshotCount: 100 } });
    assert.match(both.planned?.risk ?? '', new RegExp(`while a member starts anew: .*\\. ${left}$`));
  });

test('a plan that replaces a member says what is left meanwhile', async () => {
  const world = await bornWith({ replicas: 3 });
  world.loseVolume('orders-2');
  world.settle();
  await world.tick();
  world.advance(600);
  world.settle();
  const { planned } = await world.plan({ replicas: 3 });
  assert.equal(
    planned?.risk,
    '2 of 3 voters are left while a member is replaced: the loss of another stops writes',
    planned?.steps.map(({ action }) => action).join(' '),
  );
});

test('after a roll, the next plan says how long its members were away', async () => {
  const world = await bornWith({ replicas: 3 });
  await world.apply({ replicas: 3, etcd: { snapshotCount: 100 } });
  await tickUntilConverged(world);
  const planned = await world.plan({ replicas: 3, etcd: { snapshotCount: 200 } });
  const [, seconds] = /loss of another stops writes; the last time each was back within (\d+) s$/.exec(
    planned.planned?.risk ?? '',
  ) ?? [assert.fail(planned.planned?.risk)];
  const times = (world.cluster()?.status?.history ?? []).filter(({ reason }) => reason === 'RollingConfiguration');
  assert.equal(times.length, 3);
  const at = times.map((one) => Date.parse(one.at) / 1000);
  assert.ok(Number(seconds) > 0 && Number(seconds) <= (at[2] ?? 0) - (at[0] ?? 0));
});

test('only steps of the last roll count that were taken, and none after hours', () => {
  const at = (second: number, generation = 1, reason = 'UpgradingMember', outcome = 'acted') => ({
    ...{ action: 'x', reason, message: 'x', outcome, generation },
    at: new Date(second * 1000).toISOString(),
  });
  assert.equal(awaySeconds([]), undefined);
  assert.equal(awaySeconds([at(0)]), undefined);
  assert.equal(awaySeconds([at(0, 1, 'DeletingMember'), at(9, 1, 'DeletingMember')]), undefined);
  assert.equal(awaySeconds([at(0), at(5, 1, 'MovingLeader'), at(20), at(50)]), 30);
  assert.equal(awaySeconds([at(0), at(8, 1, 'UpgradingMember', 'failed'), at(20)]), 20);
  assert.equal(awaySeconds([at(0), at(900), at(1000, 2), at(1040, 2)]), 40);
  assert.equal(awaySeconds([at(0), at(3601)]), undefined);
  assert.equal(awaySeconds([at(0), at(3601), at(3631)]), 30);
});
