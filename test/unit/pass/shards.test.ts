import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { labels } from '../../../manifests/render/names.ts';
import { readMoving } from '../../../reconcile/cluster/observe/snapshot.ts';
import { unitOf } from '../../../reconcile/fleet/unit.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Kind } from '../../../reconcile/stepping/kind.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { keyOf } from '../../../reconcile/stepping/result.ts';
import { stepKinds } from '../../../reconcile/stepping/run.ts';
import { isIn, type Shard, wholeUnit } from '../../../reconcile/stepping/shard.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';
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

/** The same, and what pods were selected by. */
function noting(kube: FakeKube): { readonly kube: FakeKube; readonly selectors: (string | undefined)[] } {
  const selectors: (string | undefined)[] = [];
  const list: FakeKube['list'] = (resource, options) => {
    if (resource.plural === 'pods') selectors.push(options.labelSelector);
    return kube.list(resource, options);
  };
  return { kube: { ...kube, list }, selectors };
}

/** What pods are selected by, of clusters with these names. */
async function selectorFor(names: readonly string[], onlyOf: boolean): Promise<string | undefined> {
  const { kube, selectors } = noting(createFakeKube());
  const clusters = names.map((name) => ({ metadata: { namespace: 'shop', name } }) as EtcdCluster);
  await readMoving(kube, clusters, { onlyOf });
  return selectors[0];
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
  const noted = noting(kube);
  await passOf(0, noted.kube, world);
  const [first] = (await kube.list<KubeObject>(resources.clusters, {})).items;
  assert.deepEqual(noted.selectors, [`${ours},${labels.cluster} in (${first?.metadata.name})`]);
});

test('a shard holds the status of its own clusters only', async () => {
  const { world, kube } = await shared();
  const held: string[] = [];
  const list: FakeKube['list'] = async (resource, options) => {
    const found = await kube.list(resource, options);
    const withStatus = found.items.filter((one) => 'status' in one).map(({ metadata }) => `${metadata.namespace}`);
    if (resource.plural === 'etcdclusters') held.push(...withStatus);
    return found as never;
  };
  const { clusters } = await passOf(0, { ...kube, list }, world);
  assert.deepEqual([...new Set(held)].toSorted(), clusters.map((one) => one.split('/')[0]).toSorted());
});

test('what is left over where no object is there is seen to by one shard', async () => {
  const seen: number[] = [];
  const kube = createFakeKube();
  const kind: Kind = {
    ...{ scope: 'whole', after: {}, stepsNone: true, units: () => [] },
    lister: () => async () => ({ items: [], resourceVersion: '1' }),
    step: async (_, { shard }) => {
      seen.push(shard?.index ?? -1);
      return [];
    },
  };
  const stepAs = async (shard: Shard | undefined) => {
    const lists = createLists(new Map([['toy', async () => ({ items: [], resourceVersion: '1' })]]));
    await stepKinds({ toy: kind }, { ...kindContext({ kube, lists }), shard });
  };
  for (const index of [0, 1, 2]) await stepAs({ index, of, missing: [] });
  assert.deepEqual(
    seen,
    [0, 1, 2].filter((index) => isIn({ index, of, missing: [] }, wholeUnit)),
  );
  await stepAs(undefined);
  assert.equal(seen.at(-1), -1);
});

test('what another shard begins wakes no follow-up', async () => {
  const kube = createFakeKube();
  const toys: Resource = { apiVersion: 'example.com/v1', kind: 'Toy', plural: 'toys' };
  const own = all.find((one) => isIn({ index: 0, of, missing: [] }, `namespace ${one}`)) ?? assert.fail();
  const other = all.find((one) => isIn({ index: 1, of, missing: [] }, `namespace ${one}`)) ?? assert.fail();
  kube.seed(toys, { metadata: { namespace: own, name: 'ball', uid: 'ball' } });
  let steps = 0;
  let looks = 0;
  const kind: Kind = {
    ...{ scope: 'whole', after: {}, units: (items) => items.map(unitOf) },
    lister: (context) => () => context.kube.list(toys, {}),
    step: async (items) => {
      steps += 1;
      if (steps === 1) await kube.create(toys, { metadata: { namespace: other, name: 'theirs' } });
      return items.map(({ metadata: { namespace = '', name } }) => ({
        ...{ namespace, name, reason: 'Waits', message: '', workRemains: true },
        outcome: steps > 1 ? ('acted' as const) : ('none' as const),
      }));
    },
    waits: {
      wakesOn: (results) => results.map((one) => ({ key: keyOf(one), wakes: [{ on: 'time', afterSeconds: 1 }] })),
      isAwaited: () => true,
      again: 'woken',
      untilActed: true,
      adopts: { resource: toys, isBegun: () => true },
    },
  };
  const lists = createLists(new Map([['toy', async () => kube.list(toys, {})]]));
  const isStopped = async () => {
    looks += 1;
    return false;
  };
  const context = { ...kindContext({ kube, lists, waitMs: 20_000 }), isStopped };
  await stepKinds({ toy: kind }, { ...context, shard: { index: 0, of, missing: [] } });
  assert.deepEqual([steps, looks], [2, 1]);
});
