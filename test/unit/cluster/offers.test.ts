import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { restores } from '../../../reconcile/cluster/decide/restoring.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { byLoss, losses, offered } from '../../../reconcile/reasons/offers.ts';
import { healthy, noQuorum, silent, withEndpoint, without } from './observations.ts';

const offer = fc.record({ loses: fc.constantFrom(...losses), cure: fc.string() });

test('of several cures, the one that loses least comes first', () => {
  fc.assert(
    fc.property(fc.array(offer), (offers) => {
      const costs = byLoss(offers).map(({ loses }) => losses.indexOf(loses));
      assert.deepEqual(costs, costs.toSorted());
      assert.equal(byLoss(offers).length, offers.length);
    }),
  );
  assert.equal(losses.at(-1), 'everything');
});

test('a backup is offered before an empty cluster, where every volume is gone', () => {
  const newestBackup = {
    name: 'nightly',
    takenAt: '2026-01-01T00:00:00Z',
    verified: true,
    snapshot: { store: {}, object: 'orders.db' },
  } as unknown as NonNullable<Observation['newestBackup']>;
  const gone = healthy(3, {
    every: (slot) => without('volume', 'pod', 'statefulSet')(withEndpoint(silent)(slot)),
    membership: noQuorum('no member runs'),
  });
  const observation = { ...gone, newestBackup };
  const situation = situate(observation);
  assert.ok(situation.life.stage === 'unclear');
  const offers = byLoss([...situation.life.offers, ...restores(situation)]);
  assert.deepEqual(
    offers.map(({ loses }) => loses),
    ['nothing', 'since', 'everything'],
  );
  const decision = decide(observation);
  assert.equal(decision.kind === 'refuse' && decision.cure, offered(offers));
});
