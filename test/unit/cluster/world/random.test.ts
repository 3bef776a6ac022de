import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import * as fc from 'fast-check';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { killer } from '../../../support/world/crash.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** Something that may happen to a cluster between two ticks. */
interface Happening {
  readonly what: string;
  readonly to: (world: World) => void | Promise<void>;
}

const specs: readonly Partial<EtcdClusterSpec>[] = [
  {},
  { replicas: 5 },
  { replicas: 1 },
  { version: '3.7.3' },
  { version: '3.5.35' },
  { version: '3.6.99' },
  { storage: { size: '1Gi', storageClassName: 'fsat' } },
  { storage: { size: '2Gi' } },
  { resources: { limits: { memory: '1Mi' } } },
  { etcd: { snapshotCount: 5000 } },
  { suspend: true },
  { volumeRetention: { whenDeleted: 'Delete' } },
];

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  fc.nat(4).map((rounds) => ({
    what: `a tick after ${rounds} rounds`,
    to: async (world: World) => {
      for (let round = 0; round < rounds; round += 1) world.round();
      await world.tick();
      world.advance(2);
    },
  })),
  fc.record({ write: fc.nat(12), when: fc.constantFrom('before' as const, 'after' as const) }).map((crash) => ({
    what: `a tick that dies ${crash.when} write ${crash.write}`,
    to: async (world: World) => {
      world.settle();
      await world.tick(killer(crash));
      world.advance(31);
    },
  })),
  fc
    .constantFrom(...specs)
    .map((spec) => ({ what: `apply ${JSON.stringify(spec)}`, to: (world: World) => world.apply(spec) })),
  fc.constantFrom(...specs).map((spec) => ({
    what: `delete, and apply again ${JSON.stringify(spec)}`,
    to: async (world: World) => {
      await world.remove();
      if (!world.cluster()) await world.apply(spec);
    },
  })),
  fc.constant({ what: 'drop the status', to: (world: World) => world.dropStatus() }),
  fc
    .nat(2)
    .map((ordinal) => ({ what: `kill orders-${ordinal}`, to: (world: World) => world.kill(`orders-${ordinal}-0`) })),
  fc.nat(2).map((ordinal) => ({
    what: `drain orders-${ordinal}`,
    to: (world: World) => world.kube.remove(resources.pods, namespace, `orders-${ordinal}-0`),
  })),
  fc.nat(2).map((ordinal) => ({
    what: `somebody deletes the StatefulSet orders-${ordinal}`,
    to: (world: World) => world.kube.remove(resources.statefulSets, namespace, `orders-${ordinal}`),
  })),
  fc.nat(2).map((ordinal) => ({
    what: `somebody deletes the ConfigMap orders-${ordinal}`,
    to: (world: World) => world.kube.remove(resources.configMaps, namespace, `orders-${ordinal}`),
  })),
  fc.nat(2).map((ordinal) => ({
    what: `somebody deletes the peer orders-${ordinal}`,
    to: (world: World) => world.kube.remove(resources.peers, namespace, `orders-${ordinal}`),
  })),
  fc.constant({ what: 'looks are skipped from now on', to: (world: World) => world.skipLooks() }),
  fc.constant({ what: 'minutes pass', to: (world: World) => world.advance(300) }),
  fc.constant({ what: 'everything settles', to: (world: World) => world.settle() }),
);

describe('whatever happens to a cluster, in whatever order', () => {
  test('nothing that must never happen happens, and it comes to an end that a person can read', async (t) => {
    const runs = process.env.EXHAUSTIVE ? 2000 : 60;
    await fc.assert(
      fc.asyncProperty(fc.array(happenings, { minLength: 3, maxLength: 14 }), async (story) => {
        const world = await newWorld(t);
        try {
          for (const { to } of story) await to(world);
          if (world.cluster()?.metadata.deletionTimestamp === undefined) await world.apply();
          world.advance(31);
          const end = await tickUntilConverged(world);
          assert.deepEqual(world.violations, []);
          if (end.kind === 'refuse') assert.match(readyMessage(world), /To go on: /);
        } catch (error) {
          throw new Error(`\n${story.map(({ what }) => what).join('\n')}\n`, { cause: error });
        }
      }),
      { numRuns: runs },
    );
  });
});

async function newWorld(t: TestContext): Promise<World> {
  const world = createWorld();
  world.dieWhen(({ spec }) => spec.containers[0]?.resources?.limits?.memory === '1Mi');
  t.mock.restoreAll();
  t.mock.method(performance, 'now', () => world.now());
  await world.apply();
  return world;
}

function readyMessage(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}
