import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { timestamp } from '../../../../reconcile/time/timestamp.ts';
import { bornWith } from '../../../support/world/born.ts';
import { raiseCorrupt } from '../../../support/world/harm.ts';
import { namespace, type TickOptions, type World } from '../../../support/world/world.ts';

/** At rest, after a full look that said so. */
async function atRest(spec: Partial<EtcdClusterSpec> = { replicas: 3 }): Promise<World> {
  const world = await bornWith(spec);
  world.skipLooks();
  const result = await world.tick();
  assert.deepEqual([result?.decision.reason, result?.outcome], ['Converged', 'none']);
  assert.ok(world.cluster()?.status?.fullLook, 'a full look that finds nothing to do says so');
  return world;
}

/** What one tick asked the API server for. */
async function asked(world: World, options: TickOptions = {}): Promise<readonly string[]> {
  const before = world.kube.journal().length;
  await world.tick({}, options);
  return world.kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
}

/** Those of a look that goes no further. */
const few = ['LIST etcdclusters', 'LIST persistentvolumeclaims', 'LIST pods', 'LIST statefulsets'];

async function touch(world: World, resource: Resource, name: string): Promise<void> {
  const found = (await world.kube.get<KubeObject>(resource, namespace, name)) ?? assert.fail(name);
  const annotations = { ...found.metadata.annotations, touched: 'by hand' };
  await world.kube.update(resource, { ...found, metadata: { ...found.metadata, annotations } });
}

/** The lists, or the members, tell it at once. */
const seenAtOnce: Readonly<Record<string, (world: World) => void | Promise<void>>> = {
  'its spec changes': (world) => world.apply({ etcd: { snapshotCount: 5000 } }),
  'an annotation of it changes': (world) => touch(world, resources.clusters, 'orders'),
  'a StatefulSet changes': (world) => touch(world, resources.statefulSets, 'orders-1'),
  'a volume changes': (world) => touch(world, resources.volumeClaims, 'orders-1'),
  'a pod changes': (world) => touch(world, resources.pods, 'orders-1-0'),
  'a pod is gone': (world) => world.kube.remove(resources.pods, namespace, 'orders-1-0'),
  'a member is down, and no list says so': (world) => {
    const [address = ''] = [...world.processes.keys()];
    world.processes.delete(address);
  },
  'an alarm is raised': (world) => raiseCorrupt(world),
  'its status is lost': (world) => world.dropStatus(),
  'an invocation left its lease': async (world) => {
    const { status, ...cluster } = world.cluster() ?? assert.fail();
    const holder = { pod: 'etcd-ratchet/dead', uid: 'dead' };
    const at = timestamp(new Date(world.now()));
    const step = { action: 'apply-shared', reason: 'ApplyingServices', holder, startedAt: at, deadline: at };
    await world.kube.updateStatus(resources.clusters, { ...cluster, status: { ...(status ?? assert.fail()), step } });
  },
};

/** The next full look sees it. */
const seenLater: Readonly<Record<string, (world: World) => void | Promise<void>>> = {
  'a ConfigMap is deleted': (world) => world.kube.remove(resources.configMaps, namespace, 'orders-1'),
  'a Service is deleted': (world) => world.kube.remove(resources.services, namespace, 'orders'),
  'a PodDisruptionBudget is deleted': (world) => world.kube.remove(resources.disruptionBudgets, namespace, 'orders'),
  'a peer is deleted': (world) => world.kube.remove(resources.peers, namespace, 'orders-1'),
};

describe('looks at a cluster at rest', () => {
  test('the next one goes no further than four lists, writes nothing, and says the same', async () => {
    const world = await atRest();
    const before = world.cluster();
    world.advance(60);
    assert.deepEqual((await asked(world)).toSorted(), few);
    assert.deepEqual(world.cluster(), before);
  });

  for (const [what, happens] of Object.entries(seenAtOnce))
    test(`when ${what}, the next one is a full look`, async () => {
      const world = await atRest();
      world.advance(60);
      await happens(world);
      assert.ok((await asked(world)).length > few.length);
    });

  for (const [what, happens] of Object.entries(seenLater))
    test(`when ${what}, a full look within five minutes sees it`, async () => {
      const world = await atRest();
      await happens(world);
      const decisions: string[] = [];
      for (let minute = 1; minute <= 5; minute += 1) {
        world.advance(60);
        decisions.push((await world.tick())?.decision.kind ?? '');
      }
      assert.equal(decisions[0], 'done', 'a skipped look does not see it');
      assert.notDeepEqual(new Set(decisions), new Set(['done']), 'a full look does');
    });

  for (const secret of ['orders-1-peer-tls', 'orders-2-server-tls', 'orders-client-tls', 'orders-peer-ca'])
    test(`when the Secret ${secret} is deleted, a full look within five minutes sees it`, async () => {
      const world = await atRest({ replicas: 3, tls: { mode: 'Managed' } });
      world.kube.remove(resources.secrets, namespace, secret);
      let result = await world.tick();
      for (let minute = 1; minute <= 5 && result?.decision.kind === 'done'; minute += 1) {
        world.advance(60);
        result = await world.tick();
      }
      assert.notEqual(result?.decision.kind, 'done');
    });

  test('of the disks as many are read in an hour as without skipped looks', async () => {
    const reads: number[] = [];
    for (const skips of [false, true]) {
      const world = await bornWith({ replicas: 3 });
      if (skips) world.skipLooks();
      const before = world.kube.journal().length;
      for (let minute = 0; minute < 600; minute += 1) {
        world.advance(60);
        await world.tick();
      }
      const asked = world.kube.journal().slice(before);
      reads.push(asked.filter(({ key }) => key === 'GET persistentvolumes').length);
    }
    const [without = 0, skipping = 0] = reads;
    assert.ok(skipping >= 0.6 * without, `${without} without, ${skipping} with`);
  });

  test('one that is named is a full one, and of two that see the same the second writes nothing', async () => {
    const world = await atRest();
    world.advance(2);
    const named = await asked(world, { inFull: true });
    assert.ok(named.length > few.length);
    assert.deepEqual(
      named.filter((key) => !/^(LIST|GET) /.test(key)),
      [],
    );
  });

  test('where members do not answer for their health, that is asked for once in half an hour', async () => {
    const world = await atRest();
    let tries = 0;
    world.skipLooks(() => async () => {
      tries += 1;
      return false;
    });
    for (let minute = 0; minute < 29; minute += 1) {
      world.advance(60);
      assert.equal((await world.tick())?.look, undefined, 'a full look');
    }
    assert.equal(tries, 3, 'of each member once');
    world.skipLooks();
    for (let minute = 0; minute < 5; minute += 1) {
      world.advance(60);
      await world.tick();
    }
    assert.equal((await world.tick())?.look, 'skipped');
  });

  test('after a clock that was set back, the next one is a full look', async () => {
    const world = await atRest();
    world.advance(-60);
    assert.ok((await asked(world)).length > few.length);
  });

  test('five minutes of ticks have a full look in them, and not all clusters have it at once', async () => {
    const minutes = new Set<number>();
    for (let n = 0; n < 12; n += 1) {
      const world = await atRest();
      world.advance(n);
      await touch(world, resources.pods, 'orders-1-0');
      await world.tick();
      const { at } = world.cluster()?.status?.fullLook ?? assert.fail();
      let minute = 0;
      do {
        minute += 1;
        world.advance(60);
        await world.tick();
      } while (world.cluster()?.status?.fullLook?.at === at && minute < 10);
      minutes.add(minute);
    }
    assert.ok(
      [...minutes].every((minute) => minute >= 3 && minute <= 5),
      [...minutes].join(),
    );
    assert.ok(minutes.size > 1, [...minutes].join());
  });
});
