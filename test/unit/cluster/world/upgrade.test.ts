import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { Pod, PodDisruptionBudget } from '../../../../manifests/kube-types.ts';
import { readVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { versionOf } from '../../../../reconcile/cluster/observe/pods.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { type Crash, killer, sample } from '../../../support/world/crash.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** A snapshot every hundred entries: what is quiet gets there in a few hundred, and not ten thousand. */
const etcd = { snapshotCount: 100 };

async function born(spec: Partial<EtcdClusterSpec>): Promise<World> {
  return bornWith({ etcd, ...spec });
}

/** As a disruption budget of somebody else would: it counts the same pods. */
function forbidEvictions(world: World): () => void {
  const [ours] = world.kube.stored<PodDisruptionBudget>(resources.disruptionBudgets);
  if (!ours) return assert.fail();
  const { uid: _, resourceVersion: __, ...metadata } = ours.metadata;
  const spec = { ...ours.spec, minAvailable: 3 };
  const theirs = { ...ours, metadata: { ...metadata, name: 'theirs' }, spec, status: { disruptionsAllowed: 0 } };
  world.kube.seed(resources.disruptionBudgets, theirs as PodDisruptionBudget);
  return () => world.kube.remove(resources.disruptionBudgets, metadata.namespace, 'theirs');
}

const running = ({ processes }: World) => [...processes.values()].map(({ version }) => version).toSorted();
const records = (world: World) =>
  world.claims().flatMap(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    return read.kind === 'valid' ? [read.record] : [];
  });
const recorded = (world: World) => records(world).map(({ version, nextVersion }) => [version, nextVersion]);
const sinces = (world: World) => records(world).map(({ minorSince }) => minorSince);

/** Ticks until so many members run this version. */
async function untilRunning(world: World, version: string, count: number): Promise<void> {
  for (let ticks = 0; running(world).filter((found) => found === version).length < count; ticks += 1) {
    assert.ok(ticks < 40, `${count} of ${version}: ${running(world)}`);
    await world.tick();
    world.settle();
    world.advance(2);
  }
}

async function ending(world: World): Promise<string> {
  const { kind, reason } = await tickUntilConverged(world);
  return `${kind} ${reason}`;
}

function assertAllRun(world: World, size: number, version: string, context = ''): void {
  assertOneCluster(world, size, context);
  assert.deepEqual(running(world), Array(size).fill(version), context);
  assert.deepEqual(recorded(world), Array(size).fill([version, undefined]), context);
}

describe('an upgrade', () => {
  for (const replicas of [1, 2, 3, 5]) {
    test(`of ${replicas} goes from 3.5 by 3.6 to 3.7, one member at a time, the leader last`, async () => {
      const world = await born({ replicas, version: '3.5.35' });
      for (const version of ['3.6.16', '3.7.3']) {
        const { leader } = world.cluster()?.status ?? {};
        const told = world.cluster()?.status?.history?.length ?? 0;
        await world.apply({ replicas, version, etcd });
        assert.equal(await ending(world), 'done Converged');
        assertAllRun(world, replicas, version);
        const history = (world.cluster()?.status?.history ?? []).slice(told < 12 ? told : -2 * replicas - 1);
        const restarts = history.filter(({ action }) => action === 'change-template');
        if (told < 12) assert.equal(restarts.length, replicas);
        assert.equal(restarts.at(-1)?.target, leader);
      }
    });
  }

  test('of a quiet cluster born on 3.5 takes snapshots under 3.6; one born on 3.6 needs none', async () => {
    for (const [version, expected] of [
      ['3.5.35', true],
      ['3.6.16', false],
    ] as const) {
      const world = await born({ replicas: 1, version });
      await world.apply({ replicas: 1, version: '3.6.16', etcd });
      await tickUntilConverged(world);
      await world.apply({ replicas: 1, version: '3.7.3', etcd });
      const { trail } = await tickUntilConverged(world);
      assert.equal(
        trail.some((line) => line.includes('PreparingUpgrade')),
        expected,
        trail.join('\n'),
      );
      assertAllRun(world, 1, '3.7.3');
    }
  });

  test('of a cluster whose volumes do not say since when they are on 3.6 is safe all the same', async () => {
    const world = await born({ version: '3.5.35' });
    await world.apply({ version: '3.6.16', etcd });
    await tickUntilConverged(world);
    for (const claim of world.claims()) {
      const { 'etcd.ratchet.dev/minor-since': _, ...annotations } = claim.metadata.annotations ?? {};
      world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations } });
    }
    await world.apply({ version: '3.7.3', etcd });
    const { trail } = await tickUntilConverged(world);
    assert.ok(trail.some((line) => line.includes('RecordingVersion')));
    assertAllRun(world, 3, '3.7.3');
  });

  test('changes the version first, and the configuration after it, never both in one template', async () => {
    const world = await born({ version: '3.6.16' });
    const seen = new Set<string>();
    await world.apply({ version: '3.7.3', etcd: { snapshotCount: 200 } });
    const look = () => {
      for (const { spec } of world.kube.stored<EtcdPeer>(resources.peers)) {
        seen.add(`${spec.version} ${spec.etcd?.snapshotCount}`);
      }
    };
    assert.equal((await tickUntilConverged(world, { faults: { after: look } })).reason, 'Converged');
    assert.deepEqual([...seen], ['3.6.16 100', '3.7.3 100', '3.7.3 200']);
  });

  test('that skips a minor is refused, and the rest of the commit is honoured', async () => {
    const world = await born({ version: '3.5.35' });
    await world.apply({ version: '3.7.3', etcd: { snapshotCount: 200 } });
    assert.equal(await ending(world), 'refuse MinorSkipped');
    assert.ok(world.kube.stored<EtcdPeer>(resources.peers).every(({ spec }) => spec.etcd?.snapshotCount === 200));
    assertAllRun(world, 3, '3.5.35');
  });

  test('to another patch may be taken back', async () => {
    const world = await born({ version: '3.6.16' });
    for (const version of ['3.6.17', '3.6.16']) {
      await world.apply({ version, etcd });
      assert.equal(await ending(world), 'done Converged');
      assertAllRun(world, 3, version);
    }
  });

  test('to a missing image stops at the first member, and a commit cures it, either way', async () => {
    for (const replicas of [1, 3]) {
      for (const version of ['3.5.35', '3.6.16']) {
        const world = await born({ replicas, version: '3.5.35' });
        await world.apply({ replicas, version: '3.6.99', etcd });
        assert.equal(await ending(world), 'refuse ImageUnavailable');
        assert.equal(running(world).length, replicas - 1);
        await world.apply({ replicas, version, etcd });
        assert.equal(await ending(world), 'done Converged');
        assertAllRun(world, replicas, version);
      }
    }
  });

  test('whose first member dies of it is undone by reverting the commit', async () => {
    const world = await born({ version: '3.5.35' });
    world.dieWhen((pod) => versionOf(pod) === '3.6.16');
    await world.apply({ version: '3.6.16', etcd });
    assert.equal(await ending(world), 'refuse MemberKeepsExiting');
    assert.deepEqual(running(world), ['3.5.35', '3.5.35']);
    await world.apply({ version: '3.5.35', etcd });
    assert.equal(await ending(world), 'done Converged');
    assertAllRun(world, 3, '3.5.35');
  });

  test('that is reverted midway takes the upgraded members back, and may be begun again', async () => {
    for (const upgraded of [1, 2]) {
      const world = await born({ version: '3.5.35' });
      await world.apply({ version: '3.6.16', etcd });
      await untilRunning(world, '3.6.16', upgraded);
      await world.apply({ version: '3.5.35', etcd });
      assert.equal(await ending(world), 'done Converged');
      assertAllRun(world, 3, '3.5.35');
      await world.apply({ version: '3.6.16', etcd });
      assert.equal(await ending(world), 'done Converged');
      assertAllRun(world, 3, '3.6.16');
    }
  });

  test('that is reverted is told to the volume of who ran it, before the pod that shows it goes', async () => {
    const world = await born({ version: '3.5.35' });
    await world.apply({ version: '3.6.16', etcd });
    await untilRunning(world, '3.6.16', 1);
    const before = sinces(world);
    await world.apply({ version: '3.5.35', etcd });
    for (let ticks = 0; running(world).includes('3.6.16'); ticks += 1) {
      assert.ok(ticks < 10);
      await world.tick();
      world.settle();
    }
    assert.deepEqual(
      recorded(world)
        .map(([version]) => version)
        .toSorted(),
      ['3.5.35', '3.5.35', '3.6.16'],
    );
    assert.equal(await ending(world), 'done Converged');
    assertAllRun(world, 3, '3.5.35');
    assert.deepEqual(sinces(world), before);
  });

  test('reverted when the last member was told but runs the old version: it goes back', async () => {
    for (const down of [[], ['orders-0-0'], ['orders-0-0', 'orders-1-0'], ['orders-1-0', 'orders-2-0']]) {
      const world = await born({ version: '3.5.35' });
      await world.apply({ version: '3.6.16', etcd });
      await untilRunning(world, '3.6.16', 2);
      const isTold = () => world.kube.stored<EtcdPeer>(resources.peers).every(({ spec }) => spec.version === '3.6.16');
      const allow = forbidEvictions(world);
      for (let ticks = 0; !isTold(); ticks += 1) {
        assert.ok(ticks < 10);
        await world.tick();
        world.settle();
      }
      allow();
      assert.deepEqual(running(world), ['3.5.35', '3.6.16', '3.6.16']);
      world.dieWhen((pod) => versionOf(pod) === '3.6.16' && down.includes(pod.metadata.name));
      for (const pod of down) world.kill(pod);
      world.settle();
      await world.apply({ version: '3.5.35', etcd });
      assert.equal(await ending(world), 'done Converged', down.join());
      assertAllRun(world, 3, '3.5.35', down.join());
    }
  });

  test('that is reverted when the last member runs it is refused, and is finished', async () => {
    const world = await born({ version: '3.5.35' });
    await world.apply({ version: '3.6.16', etcd });
    await untilRunning(world, '3.6.16', 3);
    await world.apply({ version: '3.5.35', etcd });
    assert.equal(await ending(world), 'refuse DowngradeRefused');
    assertAllRun(world, 3, '3.6.16');
  });

  test('that is half done when the resource is deleted goes on, or back, when it is applied again', async () => {
    for (const upgraded of [1, 2]) {
      for (const version of ['3.5.35', '3.6.16']) {
        const world = await born({ version: '3.5.35' });
        await world.apply({ version: '3.6.16', etcd });
        await untilRunning(world, '3.6.16', upgraded);
        await world.remove();
        world.settle();
        world.settle();
        await world.apply({ version, etcd });
        assert.equal(await ending(world), 'done Converged');
        assertAllRun(world, 3, version);
      }
    }
  });

  test('that a birth starts on is what its volumes tell a resource that is applied again', async () => {
    const world = createWorld();
    await world.apply({ version: '3.6.16' });
    // Its volumes are recorded, and nothing runs.
    await world.tick(killer({ when: 'after', write: 9 }));
    assert.deepEqual(recorded(world), Array(3).fill(['3.6.16', undefined]));
    world.advance(31);
    await world.apply({ version: '3.7.3' });
    await untilRunning(world, '3.7.3', 3);
    await world.remove();
    world.settle();
    world.settle();
    await world.apply({ version: '3.6.16' });
    assert.equal(await ending(world), 'refuse DowngradeRefused');
    assertAllRun(world, 3, '3.7.3');
  });

  test('finds the version of a pod by its image, whatever registry that comes from', async () => {
    const world = createWorld();
    const repository = 'registry.example.com:5000/mirror/etcd';
    const digest = `sha256:${'a'.repeat(64)}`;
    world.state.images.has = (image) => image.startsWith(repository);
    const image = { repository };
    await world.apply({ version: 'v3.5.35', image });
    assert.equal(await ending(world), 'done Converged');
    await world.apply({ version: 'v3.6.16', image: { repository, digest } });
    assert.equal(await ending(world), 'done Converged');
    assertAllRun(world, 3, '3.6.16');
    const images = world.kube.stored<Pod>(resources.pods).map(({ spec }) => spec.containers[0]?.image);
    assert.deepEqual(new Set(images), new Set([`${repository}:v3.6.16@${digest}`]));
  });
});

describe('an invocation that dies at any write', () => {
  for (const [what, replicas, from, to] of [
    ['an upgrade of three', 3, '3.5.35', '3.6.16'],
    ['an upgrade of three that needs snapshots', 3, '3.6.16', '3.7.3'],
    ['an upgrade of one', 1, '3.5.35', '3.6.16'],
  ] as const) {
    describe(`of ${what}`, () => {
      let life: Life;
      /** Before 3.7 there was 3.5. */
      const ready = async () => {
        const world = await born({ replicas, version: '3.5.35' });
        if (from !== '3.5.35') {
          await world.apply({ replicas, version: from, etcd });
          await tickUntilConverged(world);
        }
        await world.apply({ replicas, version: to, etcd });
        return world;
      };

      before(async () => {
        life = await lifeOf(await ready());
        assert.ok(life.writes > 8, `${life.writes} writes`);
      });

      test('leaves what the next ones finish', async () => {
        for (const crash of sample(life.places, 11)) {
          const { world } = await life.killedAt(crash);
          assert.equal(await ending(world), 'done Converged', text(crash));
          assertAllRun(world, replicas, to, text(crash));
        }
      });

      test('and then the commit is reverted: all go back, or it is refused and all go on', async () => {
        for (const crash of sample(life.places, 11, 5)) {
          const { world } = await life.killedAt(crash);
          await world.apply({ replicas, version: from, etcd });
          const end = await ending(world);
          assert.ok(['done Converged', 'refuse DowngradeRefused'].includes(end), `${text(crash)}: ${end}`);
          assertAllRun(world, replicas, end === 'done Converged' ? from : to, text(crash));
        }
      });

      test('and then the resource is deleted and applied again', async () => {
        for (const crash of sample(life.places, 19, 9)) {
          const { world } = await life.killedAt(crash);
          await world.remove();
          world.settle();
          await world.apply({ replicas, version: to, etcd });
          assert.equal(await ending(world), 'done Converged', text(crash));
          assertAllRun(world, replicas, to, text(crash));
        }
      });
    });
  }
});

function text({ when, write }: Crash): string {
  return `killed ${when} write ${write}`;
}
