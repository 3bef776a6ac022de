import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { LeftOut } from '../../../reconcile/interfaces/kube.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { clusterOf, conditions, entryOf, fleetWith, revision } from '../fleet/objects.ts';

const why: LeftOut = { bytes: 2, plural: 'configmaps', mostBytes: 1 };
const isReady = { observedGeneration: 1, conditions: conditions(['Ready', 'True', 'all healthy']) };

/** A follow-up, which reads no Git, reports a fleet with a cluster in each of two namespaces. */
async function told(leftOut: ReadonlyMap<string, LeftOut>, isListed: boolean): Promise<EtcdFleet> {
  const carts = clusterOf('carts', { namespace: 'shop' }, isReady);
  const inventory = [entryOf('orders'), { ...entryOf('carts'), namespace: 'shop' }];
  const kube = createFakeKube({ leftOut: () => leftOut });
  kube.seed(resources.fleets, fleetWith({ inventory, revision: { attempted: revision, applied: revision } }));
  const [fleet] = kube.stored<EtcdFleet>(resources.fleets);
  assert.ok(fleet);
  const outcome = { reading: { kind: 'skipped', because: 'follow-up' }, retries: [], applied: false } as const;
  const nothing = { changed: new Set<string>(), pruned: [] };
  const clusters = [carts, ...(isListed ? [clusterOf('orders', {}, isReady)] : [])];
  const signal = AbortSignal.timeout(10_000);
  const context = { kube, log: () => undefined, signal, forgeDeadline: Date.now(), always: false, fleets: [fleet] };
  return reportFleet({ fleet, outcome: { ...outcome, ...nothing } }, clusters, context);
}

for (const isListed of [false, true])
  test(`no fleet is ready with a cluster that is left out${isListed ? ' since it was listed' : ''}`, async () => {
    const { status } = await told(new Map([['payments', why]]), isListed);
    assert.deepEqual(status?.clusters, { total: 2, ready: 1, reconciling: 1, stalled: 0 });
    const ready = conditionOf(status, 'Ready');
    assert.equal(ready?.status, 'False');
    assert.match(conditionOf(status, 'Reconciling')?.message ?? '', /payments\/orders: namespace payments is left out/);
  });

test('with all of its clusters seen and ready, it is', async () => {
  const { status } = await told(new Map(), true);
  assert.equal(conditionOf(status, 'Ready')?.status, 'True');
});
