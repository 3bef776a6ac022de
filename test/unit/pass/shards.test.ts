import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { labels } from '../../../manifests/render/names.ts';
import { readMoving } from '../../../reconcile/cluster/observe/snapshot.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { isIn } from '../../../reconcile/stepping/shard.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { bornWith } from '../../support/world/born.ts';
import { passIn } from '../../support/world/passing.ts';
import type { World } from '../../support/world/world.ts';
import { atRest } from './many-at-rest.ts';

const of = 3;
const many = 12;

interface Passed {
  /** As `<namespace>/<name>`. */
  readonly clusters: readonly string[];
  readonly fleets: readonly string[];
  readonly requests: number;
}

async function passOf(index: number, kube: FakeKube, world: World, missing: readonly number[] = []): Promise<Passed> {
  const before = kube.journal().length;
  const around = { kube, namespace: undefined, health: async () => true };
  const { clusters, fleets } = await pass(passIn(world, { ...around, shard: { index, of, missing } }));
  return {
    clusters: clusters.map(({ namespace, name }) => `${namespace}/${name}`),
    fleets: fleets.map(({ fleet }) => fleet.metadata.name),
    requests: kube.journal().length - before,
  };
}

async function shared(): Promise<{ readonly world: World; readonly kube: FakeKube }> {
  const world = await bornWith({ replicas: 3 });
  world.advance(60);
  return { world, kube: await atRest(world, many) };
}

const all = Array.from({ length: many }, (_, n) => `team-${n}`);
const clustersOf = (passed: readonly Passed[]) => passed.flatMap(({ clusters }) => clusters).toSorted();

test('the shards of a pass step each cluster once, each with as many requests as a whole pass', async () => {
  const { world, kube } = await shared();
  const passed: Passed[] = [];
  for (const index of [0, 1, 2]) passed.push(await passOf(index, kube, world));
  const stepped = clustersOf(passed);
  assert.deepEqual(
    stepped.map((one) => one.split('/')[0]),
    all.toSorted(),
  );
  assert.ok(passed.every(({ clusters, requests }) => clusters.length > 0 && requests <= 12));
});

test('what is of a missing shard is stepped by the others, once', async () => {
  const { world, kube } = await shared();
  const passed = [await passOf(0, kube, world, [1]), await passOf(2, kube, world, [1])];
  assert.deepEqual(
    clustersOf(passed).map((one) => one.split('/')[0]),
    all.toSorted(),
  );
});

test('a fleet and its clusters are of one shard, wherever they are', async () => {
  const { world, kube } = await shared();
  const git = { url: 'https://git.example.com/etcd.git', ref: 'main' };
  const metadata = { name: 'production', namespace: 'platform', uid: 'fleet-uid' };
  kube.seed(resources.fleets, { metadata, spec: { git, suspend: true } } as KubeObject);
  const { items } = await kube.list<KubeObject>(resources.clusters, {});
  for (const one of items.slice(0, 6)) {
    const marked = { ...one.metadata, labels: { ...one.metadata.labels, [labels.fleet]: 'fleet-uid' } };
    await kube.update(resources.clusters, { ...one, metadata: marked });
  }
  const own = [0, 1, 2].find((index) => isIn({ index, of, missing: [] }, 'fleet-uid')) ?? assert.fail();
  for (const index of [0, 1, 2]) {
    const { clusters, fleets } = await passOf(index, kube, world);
    assert.deepEqual(fleets, index === own ? ['production'] : []);
    const marked = items.slice(0, 6).map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
    const here = marked.filter((one) => clusters.includes(one));
    assert.equal(here.length, index === own ? 6 : 0);
  }
});

/** What pods are selected by, of clusters with these names. */
async function selectorFor(names: readonly string[], onlyOf: boolean): Promise<string | undefined> {
  const kube = createFakeKube();
  let selector: string | undefined;
  const spied: FakeKube = {
    ...kube,
    list: (resource, options) => {
      if (resource.plural === 'pods') selector = options.labelSelector;
      return kube.list(resource, options);
    },
  };
  const clusters = names.map((name) => ({ metadata: { namespace: 'shop', name } }) as EtcdCluster);
  await readMoving(spied, clusters, { onlyOf });
  return selector;
}

const ours = 'app.kubernetes.io/managed-by=etcd-ratchet';

test('a shard asks for what its own clusters own, by their names', async () => {
  assert.equal(await selectorFor(['b', 'a', 'b'], true), `${ours},${labels.cluster} in (a,b)`);
  assert.equal(await selectorFor(['b', 'a'], false), ours);
});

test('a shard asks for all where its names are more than a request may say', async () => {
  const names = Array.from({ length: 6_000 }, (_, n) => `${n}`.padStart(48, 'x'));
  assert.equal(await selectorFor(names, true), ours);
  const fewer = await selectorFor(names.slice(0, 5_000), true);
  assert.ok(fewer?.includes(' in (') && fewer.length < 300_000);
});

test('a shard steps with a look at all that its own clusters own', async () => {
  const { world, kube } = await shared();
  const asked: (string | undefined)[] = [];
  const spied: FakeKube = {
    ...kube,
    list: (resource, options) => {
      if (resource.plural === 'pods') asked.push(options.labelSelector);
      return kube.list(resource, options);
    },
  };
  await passOf(0, spied, world);
  const [first] = (await kube.list<KubeObject>(resources.clusters, {})).items;
  assert.deepEqual(asked, [`${ours},${labels.cluster} in (${first?.metadata.name})`]);
});
