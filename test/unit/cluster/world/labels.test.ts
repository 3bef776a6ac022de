import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { annotations, labels, labelsOf } from '../../../../manifests/render/names.ts';
import { act } from '../../../../reconcile/cluster/act/act.ts';
import type { ActContext } from '../../../../reconcile/cluster/act/actions/context.ts';
import { failureOf } from '../../../../reconcile/cluster/know/outcome.ts';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, name, namespace, type World } from '../../../support/world/world.ts';

/** What lists go by, taken off or set to something else by a backup tool or a policy engine. */

type Labels = Readonly<Record<string, string>>;

const ofMembers = {
  EtcdPeer: resources.peers,
  PersistentVolumeClaim: resources.volumeClaims,
  ConfigMap: resources.configMaps,
  StatefulSet: resources.statefulSets,
} as const;
const ofTheCluster = {
  Service: [resources.services, 'orders'],
  PodDisruptionBudget: [resources.disruptionBudgets, 'orders'],
  NetworkPolicy: [resources.networkPolicies, 'orders-members'],
} as const;

const changes: Readonly<Record<string, (found: Labels) => Labels>> = {
  'loses its managed-by label': ({ [labels.managedBy]: _, ...others }) => others,
  'is labelled as managed by something else': (found) => ({ ...found, [labels.managedBy]: 'velero' }),
  'is labelled as of another cluster': (found) => ({ ...found, [labels.cluster]: 'shipping' }),
  'loses all labels': () => ({}),
};

// Longer than the graces: whoever is taken for gone is given up in this time.
const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };
const inTime = { limit: 60 };

async function healthyWorld(replicas = 3): Promise<World> {
  const world = createWorld();
  await world.apply({ replicas, healing });
  await tickUntilConverged(world);
  return world;
}

function relabel(world: World, resource: Resource, object: string, change: (found: Labels) => Labels): void {
  const found = world.kube.stored<KubeObject>(resource).find(({ metadata }) => metadata.name === object);
  assert.ok(found, `${resource.kind} ${object}`);
  world.kube.seed(resource, { ...found, metadata: { ...found.metadata, labels: change(found.metadata.labels ?? {}) } });
}

function relabelAll(world: World, change: (found: Labels) => Labels): void {
  for (const resource of Object.values(ofMembers))
    for (const { metadata } of world.kube.stored(resource)) relabel(world, resource, metadata.name, change);
}

function assertNobodyLeft(world: World, { kind, trail }: Converged, members = ['orders-0', 'orders-1', 'orders-2']) {
  const story = trail.join('\n');
  assert.equal(kind, 'done', story);
  assertWhole(world, members, story);
  assert.ok(!trail.some((line) => /^act (Removing|Replacing|Restarting|Starting)/.test(line)), story);
}

function assertLabelled(world: World, story: string): void {
  for (const resource of [...Object.values(ofMembers), ...Object.values(ofTheCluster).map(([resource]) => resource)])
    for (const { metadata } of world.kube.stored<KubeObject>(resource))
      for (const [key, value] of Object.entries(labelsOf(name)))
        assert.equal(metadata.labels?.[key], value, `${key} of ${resource.kind} ${metadata.name}\n${story}`);
}

describe('an object of a serving cluster', () => {
  for (const [what, change] of Object.entries(changes)) {
    for (const [kind, resource] of Object.entries(ofMembers)) {
      test(`(${kind}) ${what}: its member serves on, and its labels come back`, async () => {
        const world = await healthyWorld();
        relabel(world, resource, 'orders-1', change);
        const end = await tickUntilConverged(world, inTime);
        assertNobodyLeft(world, end);
        assertLabelled(world, end.trail.join('\n'));
        assert.deepEqual(
          end.steps.map(({ action, target }) => `${action} ${target}`),
          ['restore-labels orders-1'],
        );
      });
    }
    for (const [kind, [resource, object]] of Object.entries(ofTheCluster)) {
      test(`(${kind}) ${what}: its labels come back`, async () => {
        const world = await healthyWorld();
        relabel(world, resource, object, change);
        const end = await tickUntilConverged(world, inTime);
        assertNobodyLeft(world, end);
        assertLabelled(world, end.trail.join('\n'));
      });
    }
  }
});

test('whatever objects of a cluster lose whatever labels, nothing is given up and all come back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.constantFrom(undefined, ...Object.values(changes))),
      fc.boolean(),
      async (stream, statusLost) => {
        const world = await healthyWorld();
        for (const resource of Object.values(ofMembers)) {
          for (const { metadata } of world.kube.stored(resource)) {
            const change = stream.next().value;
            if (change) relabel(world, resource, metadata.name, change);
          }
        }
        if (statusLost) world.dropStatus();
        const end = await tickUntilConverged(world, inTime);
        assertNobodyLeft(world, end);
        assertLabelled(world, end.trail.join('\n'));
      },
    ),
    { numRuns: 40 },
  );
});

for (const statusLost of [false, true]) {
  test(`a cluster with all objects relabelled is not born anew${statusLost ? ', its status lost' : ''}`, async () => {
    const world = await healthyWorld();
    relabelAll(world, () => ({}));
    if (statusLost) world.dropStatus();
    const before = [...world.formations.keys()];
    const end = await tickUntilConverged(world, inTime);
    assertNobodyLeft(world, end);
    assertLabelled(world, end.trail.join('\n'));
    assert.deepEqual([...world.formations.keys()], before);
  });
}

test('PVCs that lost all labels while the cluster was deleted are found on the next apply', async () => {
  const world = await healthyWorld();
  const before = [...world.formations.keys()];
  await world.remove();
  await tickUntilConverged(world);
  world.settle();
  for (const { metadata } of world.claims()) relabel(world, resources.volumeClaims, metadata.name, () => ({}));
  await world.apply({ healing });
  const { kind, trail } = await tickUntilConverged(world, inTime);
  assert.equal(kind, 'done', trail.join('\n'));
  assertWhole(world, 3, trail.join('\n'));
  assert.deepEqual([...world.formations.keys()], before);
});

test('one of the PVCs lost all labels while its cluster was deleted: its member comes back too', async () => {
  const world = await healthyWorld();
  await world.remove();
  await tickUntilConverged(world);
  world.settle();
  relabel(world, resources.volumeClaims, 'orders-1', () => ({}));
  await world.apply({ healing });
  const { kind, trail } = await tickUntilConverged(world, inTime);
  assert.equal(kind, 'done', trail.join('\n'));
  assertWhole(world, ['orders-0', 'orders-1', 'orders-2'], trail.join('\n'));
});

test('a PVC that lost its labels and its record is named, and its serving member stays', async () => {
  const world = await healthyWorld();
  const claim = world.claims().find(({ metadata }) => metadata.name === 'orders-1') ?? assert.fail();
  const { labels: _, annotations: __, ...metadata } = claim.metadata;
  world.kube.seed(resources.volumeClaims, { ...claim, metadata });
  const { kind, reason, message, trail } = await tickUntilConverged(world, inTime);
  assert.deepEqual([kind, reason], ['refuse', 'VolumeRecordUnreadable'], trail.join('\n'));
  assert.match(message, /orders-1/);
  assertWhole(world, ['orders-0', 'orders-1', 'orders-2'], trail.join('\n'));
});

test('a PVC that is not listed and cannot be read is unknown: nothing is given up for it', async () => {
  const world = await healthyWorld();
  relabel(world, resources.volumeClaims, 'orders-1', () => ({}));
  world.forbidden.add('GET persistentvolumeclaims');
  for (let ticks = 0; ticks < 40; ticks += 1) {
    const result = await world.tick();
    assert.notEqual(result?.decision.kind, 'act', JSON.stringify(result));
    assert.match(result?.problem ?? '', /persistentvolumeclaims|Forbidden/i);
    world.advance(5);
    world.settle();
  }
  assertWhole(world, ['orders-0', 'orders-1', 'orders-2'], 'forbidden');
});

test('a pod without its labels serves on, and is named with the command that puts them back', async () => {
  const world = await healthyWorld();
  relabel(world, resources.pods, 'orders-1-0', ({ [labels.managedBy]: _, ...others }) => others);
  const { kind, reason, message, trail } = await tickUntilConverged(world, inTime);
  assert.deepEqual([kind, reason], ['refuse', 'PodUnlabelled'], trail.join('\n'));
  const condition = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.match(
    condition?.message ?? message,
    /kubectl -n shop label --overwrite pod orders-1-0 .*managed-by=etcd-ratchet/,
  );
  assertWhole(world, ['orders-0', 'orders-1', 'orders-2'], trail.join('\n'));
  assert.equal(world.kube.stored(resources.pods).length, 3, namespace);
});

test('labels that admission takes off again at once are told as that, by name', async () => {
  const world = await healthyWorld();
  const cluster = world.cluster() ?? assert.fail();
  relabel(world, resources.volumeClaims, 'orders-1', () => ({}));
  const claim = world.claims().find(({ metadata }) => metadata.name === 'orders-1') ?? assert.fail();
  const context: ActContext = {
    kube: { ...world.kube, update: async () => claim as never },
    etcd: { endpoints: new Map(), connect: async () => assert.fail('etcd is not asked') },
    cluster,
    signal: AbortSignal.timeout(10_000),
  };
  const objects = [{ of: 'volume', name: 'orders-1', uid: claim.metadata.uid ?? '' }] as const;
  await assert.rejects(act({ kind: 'restore-labels', objects }, context), (error) => {
    const { class: kind, reason, message } = failureOf(error);
    assert.deepEqual([kind, reason], ['terminal', 'LabelsRefused']);
    assert.match(message, /PersistentVolumeClaim orders-1 .*To go on: exempt/);
    return true;
  });
});

describe('at rest nothing is read by name', () => {
  const rests: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
    'of a cluster that is whole': async () => undefined,
    'of a cluster that hibernates': (world) => world.apply({ replicas: 0, healing }),
    'beside the volumes of members that left': (world) =>
      world.apply({ replicas: 1, healing, volumeRetention: { whenScaled: 'Retain' } }),
    'beside the name of a member that was replaced': async (world) => world.loseVolume('orders-0'),
  };
  for (const [what, begin] of Object.entries(rests)) {
    test(what, async () => {
      const world = await healthyWorld();
      await begin(world);
      const { kind, trail } = await tickUntilConverged(world, { limit: 300 });
      assert.equal(kind, 'done', trail.join('\n'));
      const before = world.kube.journal().length;
      await world.tick();
      const since = world.kube.journal().slice(before);
      const read = since.filter(({ verb }) => verb !== 'LIST').map(({ key }) => key);
      assert.deepEqual([read, since.length], [[], 9], trail.join('\n'));
    });
  }
});

test('the CAs of a cluster are its own without labels, and get them at the next write', async () => {
  const world = createWorld();
  await world.apply({ tls: { mode: 'Managed', rotationOverlap: '1m' } });
  await tickUntilConverged(world, { limit: 300 });
  const authorities = ['orders-peer-ca', 'orders-client-ca'];
  for (const authority of authorities) relabel(world, resources.secrets, authority, () => ({}));
  const { metadata, ...rest } = world.cluster() ?? assert.fail();
  const rotate = { ...metadata.annotations, [annotations.rotateCertificates]: 'now' };
  world.kube.seed(resources.clusters, { ...rest, metadata: { ...metadata, annotations: rotate } });
  const { kind, trail } = await tickUntilConverged(world, { limit: 300 });
  assert.equal(kind, 'done', trail.join('\n'));
  for (const authority of authorities) {
    const found = world.kube.stored<KubeObject>(resources.secrets).find((one) => one.metadata.name === authority);
    assert.partialDeepStrictEqual(found?.metadata.labels, labelsOf(name));
  }
});

test('the unlabelled volume of a member that left is kept, and its name not reused', async () => {
  const world = await healthyWorld();
  const volumeRetention = { whenScaled: 'Retain' } as const;
  await world.apply({ replicas: 1, healing, volumeRetention });
  await tickUntilConverged(world, { limit: 300 });
  relabel(world, resources.volumeClaims, 'orders-1', () => ({}));
  const uidOf = () => world.claims().find(({ metadata }) => metadata.name === 'orders-1')?.metadata.uid;
  const before = uidOf();
  // From now on a volume goes with its member; this one was kept.
  await world.apply({ replicas: 2, healing, volumeRetention: { whenScaled: 'Delete' } });
  const { kind, trail } = await tickUntilConverged(world, { limit: 300 });
  assert.equal(kind, 'done', trail.join('\n'));
  assertWhole(world, ['orders-0', 'orders-3'], trail.join('\n'));
  assert.equal(uidOf(), before);
  assertLabelled(world, trail.join('\n'));
});
