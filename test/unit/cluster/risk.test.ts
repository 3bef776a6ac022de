import assert from 'node:assert/strict';
import { test } from 'node:test';
import { riskOf } from '../../../reconcile/cluster/foresee/risk.ts';
import { bornWith } from '../../support/world/born.ts';

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
      riskOf({ membership: { kind: 'unknown', because: 'x' } as never }, planned.planned?.steps ?? []),
      undefined,
    );
  });
