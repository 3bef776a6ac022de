import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { ConfigMap, PersistentVolumeClaim, Service } from '../../../../manifests/kube-types.ts';
import { annotations, labelsOf } from '../../../../manifests/render/names.ts';
import { readVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { partOf } from '../../../run/part.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { tickUntilFrozen } from '../../../support/world/freeze.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { createWorld, name, namespace, type World } from '../../../support/world/world.ts';

describe('a mistake in a first commit is cured by the next', () => {
  const good: Partial<EtcdClusterSpec> = {};
  for (const [what, bad, reason] of [
    ['a storage class that does not exist', { storage: { size: '1Gi', storageClassName: 'fsat' } }, undefined],
    ['a version that does not exist', { version: '3.6.99' }, 'ImageUnavailable'],
    ['a lower version that does not exist', { version: '3.5.99' }, 'ImageUnavailable'],
    ['an image that does not exist', { image: { repository: 'quay.io/coreos/ectd' } }, 'ImageUnavailable'],
    ['too little memory', { resources: { limits: { memory: '1Mi' } } }, 'MemberKeepsExiting'],
  ] as const) {
    for (const size of [1, 3]) {
      test(`${what}, ${size} members`, async () => {
        const world = createWorld();
        world.dieWhen(({ spec }) => spec.containers[0]?.resources?.limits?.memory === '1Mi');
        await world.apply({ replicas: size, ...bad });
        await ticks(world, 12);
        if (reason !== undefined) assert.equal(readyOf(world)?.reason, reason, readyOf(world)?.message);
        assert.equal(readyOf(world)?.status, 'False');
        await world.apply({ replicas: size, ...good });
        const end = await tickUntilConverged(world);
        assert.equal(end.kind, 'done', end.trail.join('\n'));
        assertOneCluster(world, size);
      });
    }
  }

  test('a wrong storage class, and the resource is deleted and applied again with the right one', async () => {
    for (const after of [2, 3, 4, 8]) {
      const world = createWorld();
      await world.apply({ storage: { size: '1Gi', storageClassName: 'fsat' } });
      await ticks(world, after);
      await world.remove();
      await world.apply();
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assertOneCluster(world, 3);
      assert.deepEqual(new Set(world.claims().map(({ spec }) => spec.storageClassName)), new Set([undefined]));
    }
  });

  test('a wrong storage class, and the invocation that cures it dies at any write', async () => {
    const life = await lifeOf(await wrongClass());
    assert.ok(life.writes > 10, `${life.writes} writes`);
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assertOneCluster(world, 3, `${crash.when} ${crash.write}`);
      assert.deepEqual(new Set(world.claims().map(({ spec }) => spec.storageClassName)), new Set([undefined]));
    }

    async function wrongClass(): Promise<World> {
      const world = createWorld();
      await world.apply({ storage: { size: '1Gi', storageClassName: 'fsat' } });
      await ticks(world, 8);
      await world.apply();
      return world;
    }
  });

  test('a wrong image, and the invocation that cures it dies at any write', async () => {
    const life = await lifeOf(await wrongImage());
    assert.ok(life.writes > 10, `${life.writes} writes`);
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assertOneCluster(world, 3, `${crash.when} ${crash.write}`);
    }

    async function wrongImage(): Promise<World> {
      const world = createWorld();
      await world.apply({ version: '3.6.99' });
      await ticks(world, 8);
      await world.apply();
      return world;
    }
  });
});

describe('a version that is lowered before anything ran', () => {
  for (const quorum of [true, false]) {
    test(`stays when a member starts on it in the last moment, ${quorum ? 'with' : 'without'} a quorum`, async () => {
      for (const rounds of [1, 2, 3, 4]) {
        const world = createWorld();
        world.dieWhen(({ metadata }) => !quorum && metadata.name !== 'orders-0-0');
        await world.apply({ version: '3.7.3' });
        await untilActed(world, 'PreparingMembers');
        await world.apply({ version: '3.6.16' });
        let late = false;
        const last = () => {
          if (late) return;
          late = true;
          for (let round = 0; round < rounds; round += 1) world.round();
        };
        await world.tick({ after: last });
        await ticks(world, 5);
        world.dieWhen(() => false);
        world.settle();
        const end = await tickUntilConverged(world);
        assert.ok(['Converged', 'DowngradeRefused'].includes(end.reason), end.trail.join('\n'));
        assertOneCluster(world, 3);
      }
    });
  }
});

describe('two invocations', () => {
  test('of which one did nothing, and tells it late: what the other did stays told', async () => {
    const world = createWorld();
    await world.apply();
    await untilActed(world, 'PreparingMembers');
    const frozen = await tickUntilFrozen(world, { when: 'before', write: 0 }, () => undefined);
    world.settle();
    await untilActed(world, 'SealingMembers');
    await frozen.wake();
    assert.deepEqual(world.violations, []);
    assert.ok(world.cluster()?.status?.history?.some(({ reason }) => reason === 'SealingMembers'));
  });
});

describe('volumes of which a quorum is gone', () => {
  test('are not waited for: the refusal names what is lost', async () => {
    const world = await converged();
    await world.remove();
    world.settle();
    for (const lost of ['orders-0', 'orders-2']) world.kube.remove(resources.volumeClaims, namespace, lost);
    await world.apply();
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'QuorumLost', end.trail.join('\n'));
    assert.match(end.message, /orders-0 \(none of its objects exists\), orders-2 \(/);
  });
});

describe('events', () => {
  test('that cannot be written hold nothing up', async () => {
    const world = createWorld();
    world.forbidden.add('events');
    await world.apply();
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.ok(
      world.logged.some((line) => line.includes('event')),
      'it is logged',
    );
  });
});

describe('a dry run', () => {
  test('prints what would be done, and touches nothing', async () => {
    const world = createWorld();
    await world.apply();
    const before = world.kube.journal().length;
    const result = await world.tick({}, { dryRun: true });
    assert.equal(result?.decision.reason, 'PreparingMembers');
    assert.equal(result?.outcome, 'none');
    assert.deepEqual(
      world.kube
        .journal()
        .slice(before)
        .filter(({ verb }) => verb !== 'LIST'),
      [],
    );
  });
});

describe('the volumes of a running cluster grow', () => {
  test('and the invocation that does it dies at any write: they have grown all the same', async () => {
    const life = await lifeOf(await growing());
    assert.ok(life.writes > 5, `${life.writes} writes`);
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assert.deepEqual(new Set(world.claims().map(sizeOf)), new Set(['2Gi']));
      assertOneCluster(world, 3);
    }

    async function growing(): Promise<World> {
      const world = await converged(3, { etcd: { quotaBackendBytes: '256Mi' } });
      await world.apply({ storage: { size: '2Gi' }, etcd: { quotaBackendBytes: '256Mi' } });
      return world;
    }
  });

  test('where the class does not let them, a person is told, with a cure, once', async () => {
    const world = await converged(3, { storage: { size: '1Gi', storageClassName: 'rigid' } });
    await world.apply({ storage: { size: '2Gi', storageClassName: 'rigid' } });
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'refuse');
    const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
    assert.match(stalled?.message ?? '', /cannot grow to 2Gi.*To go on: set allowVolumeExpansion/);
    assert.equal(
      world.kube.stored(resources.events).filter((event) => Reflect.get(event, 'type') === 'Warning').length,
      1,
    );
    assert.equal(world.cluster()?.status?.history?.filter(({ outcome }) => outcome === 'failed').length, 1);
    await world.apply({ storage: { size: '1Gi', storageClassName: 'rigid' } });
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  });
});

describe('a disk that came back empty', () => {
  test('under its sealed volume: the member exits, others keep the quorum, and it is named', async () => {
    const world = await converged();
    world.wipe(`${name}-1`);
    let decision = (await world.tick())?.decision;
    for (let ticks = 0; ticks < 20 && decision?.reason !== 'MemberDown'; ticks += 1) {
      world.settle();
      world.advance(2);
      decision = (await world.tick())?.decision;
    }
    assert.equal(decision?.reason, 'MemberDown');
    assert.match(decision.message, /orders-1.*couldn't find local name/);
    assert.equal(world.processes.size, 2);
    const status = world.cluster()?.status;
    assert.deepEqual(
      status?.conditions?.map(({ type, status }) => `${type}=${status}`),
      ['Ready=False', 'Reconciling=True', 'Available=True', 'CertificatesReady=False'],
    );
  });

  test('every disk at once: nothing starts, and nothing is born again', async () => {
    const world = await converged();
    for (const ordinal of [0, 1, 2]) world.wipe(`${name}-${ordinal}`);
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'refuse');
    assert.equal(world.processes.size, 0);
  });
});

describe('pods that are killed', () => {
  test('all at once come back by themselves, without a step', async () => {
    const world = await converged();
    for (const { metadata } of world.kube.stored(resources.pods))
      world.kube.remove(resources.pods, namespace, metadata.name);
    const end = await tickUntilConverged(world, { slow: true });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.equal(end.acts, 0, end.trail.join('\n'));
    assertOneCluster(world, 3);
  });
});

describe('a resource that was deleted and is applied again', () => {
  test('takes up its retained volumes: same cluster, same members, sealed', async () => {
    const world = await converged();
    const before = recordsOf(world);
    await world.remove();
    world.settle();
    world.settle();
    assert.equal(world.kube.stored(resources.peers).length, 0);
    assert.equal(world.processes.size, 0);
    assert.equal(world.claims().length, 3);
    await world.apply({ version: '3.5.35', storage: { size: '512Mi' } });
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'DowngradeRefused', end.trail.join('\n'));
    await world.apply();
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.deepEqual(recordsOf(world), before);
    assert.ok(world.kube.stored<ConfigMap>(resources.configMaps).every(({ immutable }) => immutable));
    assertOneCluster(world, 3);
  });

  test('with a larger size: they are taken up first, and grow then', async () => {
    const etcd = { quotaBackendBytes: '256Mi' };
    const world = await converged(3, { etcd });
    await world.remove();
    await world.apply({ etcd, storage: { size: '2Gi' } });
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.ok(!end.trail.some((line) => line.includes('failed')), end.trail.join('\n'));
    assert.deepEqual(new Set(world.claims().map(sizeOf)), new Set(['2Gi']));
    assertOneCluster(world, 3);
  });

  test('and the invocation that takes them up dies at any write: same cluster', async () => {
    const applied = await again();
    const before = recordsOf(applied);
    const life = await lifeOf(applied);
    assert.ok(life.writes > 5, `${life.writes} writes`);
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', `${crash.when} ${crash.write}\n${end.trail.join('\n')}`);
      assert.deepEqual(recordsOf(world), before);
      assertOneCluster(world, 3);
    }

    async function again(): Promise<World> {
      const world = await converged();
      await world.remove();
      await world.apply();
      return world;
    }
  });

  test('a volume of another cluster of that name in between is not mixed in', async () => {
    const world = await converged();
    await world.remove();
    world.settle();
    const [stale] = world.claims();
    assert.ok(stale);
    world.kube.seed(resources.volumeClaims, {
      ...stale,
      metadata: { ...stale.metadata, annotations: { ...stale.metadata.annotations, [annotations.token]: 'older' } },
    });
    const requests = world.kube.journal().length;
    await world.apply();
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'VolumesOfTwoClusters');
    assert.equal(world.processes.size, 0);
    const touched = world.kube
      .journal()
      .slice(requests)
      .filter(({ verb, resource }) => verb !== 'LIST' && resource.plural === 'persistentvolumeclaims');
    assert.deepEqual(touched, []);
  });
});

describe('a status that vanished', () => {
  test('is rebuilt as it was, and nothing is done', async () => {
    const world = await converged();
    const before = world.cluster()?.status;
    world.dropStatus();
    const end = await tickUntilConverged(world);
    assert.equal(end.acts, 0);
    const { history: _, plan: __, conditions, ...rest } = before ?? assert.fail();
    assert.partialDeepStrictEqual(world.cluster()?.status, rest);
    assert.deepEqual(
      world.cluster()?.status?.conditions?.map(({ type }) => type),
      conditions?.map(({ type }) => type),
    );
  });
});

describe('deletion', () => {
  for (const size of [1, 3]) {
    test(`of ${size} with policy Retain keeps the volumes and their data`, async () => {
      const world = await converged(size);
      await world.remove();
      await tickUntilConverged(world, { limit: 20 });
      world.settle();
      assert.equal(world.cluster(), undefined);
      assert.equal(world.disks.size, size);
      assert.equal(world.processes.size, 0);
    });
  }

  const policy = { volumeRetention: { whenDeleted: 'Delete' } } as const;

  test('with policy Delete removes its own volumes and nothing else, wherever an invocation dies', async () => {
    const life = await lifeOf(await deleted());
    assert.ok(life.writes > 5, `${life.writes} writes`);
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'gone', end.trail.join('\n'));
      world.settle();
      assert.deepEqual(
        world.claims().map(({ metadata }) => metadata.name),
        ['orders-1-data', 'shipping-0'],
      );
      assert.equal(world.cluster(), undefined);
      assert.equal(world.disks.size, 0);
    }

    async function deleted(): Promise<World> {
      const world = await converged(3, policy);
      for (const other of ['orders-1-data', 'shipping-0']) {
        const metadata = { name: other, namespace, labels: labelsOf(other === 'shipping-0' ? 'shipping' : 'else') };
        world.kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
          metadata,
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        });
      }
      await world.remove();
      return world;
    }
  });

  test('with policy Delete in the middle of a birth leaves nothing, wherever the birth stood', async () => {
    const unborn = createWorld();
    await unborn.apply(policy);
    const life = await lifeOf(unborn);
    assert.ok(life.writes > 20, `${life.writes} writes`);
    for (const crash of partOf(life.places.filter(({ when }) => when === 'after'))) {
      const { world } = await life.killedAt(crash);
      await world.remove();
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'gone', `${crash.write}\n${end.trail.join('\n')}`);
      world.settle();
      assert.deepEqual(
        world.claims().map(({ metadata }) => metadata.name),
        [],
        `after write ${crash.write}`,
      );
    }
  });
});

describe('a cluster that is to be left alone', () => {
  for (const [what, pause] of [
    ['suspended in its spec', (world: World) => world.apply({ suspend: true })],
    ['paused by an annotation', async (world: World) => annotate(world, { [annotations.paused]: 'by me' })],
  ] as const) {
    test(`${what} is not touched, whatever happens to it`, async () => {
      const world = await converged();
      await pause(world);
      world.wipe(`${name}-0`);
      world.kube.remove(resources.services, namespace, name);
      const from = world.kube.journal().length;
      await ticks(world, 5);
      const written = world.kube
        .journal()
        .slice(from)
        .filter(({ verb }) => verb !== 'LIST' && verb !== 'GET');
      assert.deepEqual(
        [...new Set(written.map(({ key }) => key))].filter((key) => !/\/status$|events$/.test(key)),
        [],
      );
    });
  }
});

describe('a foreign object of our name', () => {
  for (const [resource, taken] of [
    [resources.services, name],
    [resources.services, `${name}-peers`],
    [resources.disruptionBudgets, name],
    [resources.networkPolicies, `${name}-members`],
    [resources.volumeClaims, `${name}-1`],
    [resources.configMaps, `${name}-1`],
    [resources.statefulSets, `${name}-1`],
    [resources.peers, `${name}-1`],
  ] as const) {
    for (const labelled of [false, true]) {
      test(`${resource.kind} ${taken}${labelled ? ', with our labels,' : ''} is never changed, and is named with a cure`, async () => {
        const world = createWorld();
        const foreign = foreignObject(resource, taken, labelled);
        world.kube.seed(resource, foreign);
        const before = stored(world, resource, taken);
        await world.apply();
        const end = await tickUntilConverged(world, { limit: 40 });
        assert.equal(end.kind, 'refuse', end.trail.join('\n'));
        assert.match(end.message, new RegExp(taken));
        assert.match(readyOf(world)?.message ?? '', /To go on: /);
        assert.deepEqual(spec(stored(world, resource, taken)), spec(before));
      });
    }
  }

  function spec(object: KubeObject | undefined): unknown {
    const { status: _, metadata, ...rest } = (object ?? {}) as KubeObject & { status?: unknown };
    const { resourceVersion: __, finalizers: ___, ...kept } = metadata ?? {};
    return { ...rest, metadata: kept };
  }
});

async function converged(size = 3, changes: Partial<EtcdClusterSpec> = {}): Promise<World> {
  return bornWith({ replicas: size, ...changes });
}

async function untilActed(world: World, reason: string): Promise<void> {
  for (let tick = 0; tick < 10; tick += 1) {
    const result = await world.tick();
    world.advance(2);
    if (result?.decision.reason === reason && result.outcome === 'acted') return;
  }
  assert.fail(`${reason} was never done`);
}

async function ticks(world: World, count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) {
    world.settle();
    await world.tick();
    world.advance(2);
    assert.deepEqual(world.violations, []);
  }
}

function readyOf(world: World) {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Ready');
}

function recordsOf(world: World) {
  return world.claims().map(({ metadata }) => readVolumeRecord(metadata.annotations));
}

function sizeOf({ spec }: PersistentVolumeClaim) {
  return spec.resources.requests?.storage;
}

async function annotate(world: World, added: Record<string, string>): Promise<void> {
  const found = world.cluster() ?? assert.fail();
  const metadata = { ...found.metadata, annotations: { ...found.metadata.annotations, ...added } };
  await world.kube.update(resources.clusters, { ...found, metadata });
}

function stored(world: World, resource: Resource, wanted: string): KubeObject | undefined {
  return world.kube.stored(resource).find(({ metadata }) => metadata.name === wanted);
}

function foreignObject(resource: Resource, wanted: string, labelled: boolean): KubeObject {
  const metadata = { name: wanted, namespace, labels: labelled ? labelsOf(name) : { app: 'theirs' } };
  switch (resource.kind) {
    case 'Service':
      return { metadata, spec: { selector: { app: 'theirs' } } } as Service;
    case 'PersistentVolumeClaim':
      return {
        metadata,
        spec: { accessModes: [], resources: { requests: { storage: '1Gi' } } },
      } as PersistentVolumeClaim;
    case 'StatefulSet':
      return {
        metadata,
        spec: { replicas: 0, template: { metadata: { labels: {} }, spec: { containers: [] } } },
      } as KubeObject;
    case 'EtcdPeer':
      return { metadata, spec: peerSpec } as KubeObject;
    default:
      return { metadata, spec: { minAvailable: 1 }, data: { theirs: 'yes' } } as KubeObject;
  }
}

const peerSpec = {
  clusterName: name,
  ordinal: 1,
  version: '3.6.16',
  image: { repository: 'quay.io/coreos/etcd' },
  tls: { mode: 'Disabled' },
  storage: { size: '1Gi' },
  bootstrap: { token: 'theirs', initialCluster: [], state: 'New' },
};
