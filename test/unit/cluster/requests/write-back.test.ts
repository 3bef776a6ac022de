import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { PodDisruptionBudget } from '../../../../manifests/kube-types.ts';
import type { ActContext } from '../../../../reconcile/cluster/act/actions/context.ts';
import { applySharedObject } from '../../../../reconcile/cluster/act/requests/cluster.ts';
import { livePeer } from '../../../../reconcile/cluster/act/requests/objects.ts';
import { runLive } from '../../../../reconcile/cluster/act/requests/run-live.ts';
import { noteDefragmented } from '../../../../reconcile/cluster/act/requests/space.ts';
import { failureOf } from '../../../../reconcile/cluster/know/outcome.ts';
import { isReason, type Kube, KubeError, resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

test('what has gone since it was read is looked at again, and asks nothing of a person', async () => {
  const world = createWorld();
  await world.apply();
  await tickUntilConverged(world);
  const context: ActContext = { kube: world.kube, ...contextOf(world) };
  function* late() {
    const { readAt } = yield* livePeer('orders-1');
    world.kube.remove(resources.peers, namespace, 'orders-1');
    yield* noteDefragmented({ readAt, mark: { at: '2026-01-01T00:00:00Z', vain: 1 } });
  }
  await assert.rejects(runLive(late(), context), (error) => failureOf(error).class === 'precondition');
});

test('a 404 for an object that is still there needs a person: looking again would not end', async () => {
  const world = createWorld();
  await world.apply();
  await tickUntilConverged(world);
  const says404: ActContext = {
    kube: {
      ...world.kube,
      update: () => {
        const facts = { class: 'terminal', status: 404, reason: 'NotFound' } as const;
        return Promise.reject(new KubeError('admission webhook denied the request', facts));
      },
    },
    ...contextOf(world),
  };
  function* noting() {
    const { readAt } = yield* livePeer('orders-1');
    yield* noteDefragmented({ readAt, mark: { at: '2026-01-01T00:00:00Z', vain: 1 } });
  }
  await assert.rejects(runLive(noting(), says404), (error) => failureOf(error).class === 'terminal');
});

for (const [conflicts, ends] of [
  [2, 'is repeated'],
  [Number.POSITIVE_INFINITY, 'ends with the conflict'],
] as const)
  test(`a budget whose status is written meanwhile, ${conflicts} times: the PUT ${ends}`, async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    let sent = 0;
    const kube: Kube = {
      ...world.kube,
      update: async (resource, object, options) => {
        if (resource !== resources.disruptionBudgets || ++sent > conflicts)
          return world.kube.update(resource, object, options);
        throw new KubeError('the object has been modified', { class: 'precondition', status: 409, reason: 'Conflict' });
      },
    };
    const context: ActContext = { kube, ...contextOf(world) };
    const written = runLive(
      (function* () {
        yield* applySharedObject({ object: 'disruption-budget', minAvailable: 1 });
      })(),
      context,
    );
    if (Number.isFinite(conflicts)) {
      await written;
      assert.equal(sent, conflicts + 1);
      const budget = await world.kube.get<PodDisruptionBudget>(resources.disruptionBudgets, namespace, 'orders');
      assert.equal(budget?.spec.minAvailable, 1);
    } else {
      await assert.rejects(written, (error) => isReason(error, 'Conflict'));
      assert.equal(sent, 4);
    }
  });

function contextOf(world: World): Omit<ActContext, 'kube'> {
  return {
    cluster: world.cluster() ?? assert.fail(),
    etcd: { endpoints: new Map(), connect: () => assert.fail('etcd is not asked') },
    signal: AbortSignal.timeout(10_000),
  };
}

test('every PUT of a request is one that knows of that', () => {
  const folder = new URL('../../../../reconcile/cluster/act/requests/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file !== 'live.ts');
  const puts = files.filter((file) => /\bkube\.update\b/.test(readFileSync(new URL(file, folder), 'utf8')));
  assert.deepEqual(puts, []);
});
