import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { isUnchanged } from '../../../reconcile/fleet/unchanged.ts';
import { clusterOf, conditions, entryOf, fleetWith, revision, sha, specOf, treeOf } from './objects.ts';

const fleet = fleetWith();
const other = fleetWith({}, { name: 'other' });
const tree = treeOf([specOf('orders')]);
const plan = (cluster: ReturnType<typeof clusterOf> | undefined, more: Partial<Parameters<typeof planFleet>[0]> = {}) =>
  planFleet({ fleet, fleets: [fleet, other], clusters: cluster ? [cluster] : [], revision, tree, ...more });

for (const [title, cluster, kind] of [
  ['that does not exist is created', undefined, 'create'],
  ['of ours is updated', clusterOf('orders'), 'update'],
  ['of nobody is adopted', clusterOf('orders', { owner: '' }), 'adopt'],
  ['of a fleet that is gone is taken over', clusterOf('orders', { owner: 'gone' }), 'takeOver'],
  [
    'that its fleet handed over is taken over',
    clusterOf('orders', { owner: 'other', annotated: { 'etcd.ratchet.dev/hand-over-to': 'platform/production' } }),
    'takeOver',
  ],
] as const) {
  test(`a listed cluster ${title}`, () => {
    assert.deepEqual(
      plan(cluster).applies.map((apply) => apply.kind),
      [kind],
    );
    assert.deepEqual(plan(cluster).problems, []);
  });
}

test('a cluster of another fleet is a problem that names the fleet and the way out', () => {
  const { applies, problems } = plan(clusterOf('orders', { owner: 'other' }));
  assert.deepEqual(applies, []);
  assert.match(problems[0]?.message ?? '', /belongs to fleet platform\/other.*hand-over-to=platform\/production/);
  assert.equal(problems[0]?.file, 'orders.yaml');
});

test('a fleet that can not be seen from here is not taken for gone', () => {
  const cluster = clusterOf('orders', { owner: 'far', annotated: { 'etcd.ratchet.dev/fleet-name': 'elsewhere/far' } });
  assert.deepEqual(plan(cluster, { scope: 'platform' }).applies, []);
  assert.equal(plan(cluster).applies.length, 1);
});

const leftOut = new Map([['payments', { bytes: 2, plural: 'configmaps', mostBytes: 1 }]]);

test('a document of a namespace that is left out is not applied, and says so in its place', () => {
  for (const cluster of [undefined, clusterOf('orders'), clusterOf('orders', { owner: 'gone' })]) {
    const { applies, problems } = plan(cluster, { leftOut });
    assert.deepEqual(applies, []);
    assert.match(
      problems[0]?.message ?? '',
      /EtcdCluster payments\/orders is not applied now: namespace payments is left/,
    );
  }
});

test('a fleet of a namespace that is left out is not taken for gone', () => {
  const cluster = clusterOf('orders', { owner: 'far', annotated: { 'etcd.ratchet.dev/fleet-name': 'elsewhere/far' } });
  const elsewhere = new Map([['elsewhere', { bytes: 2, plural: 'etcdfleets', mostBytes: 1 }]]);
  assert.deepEqual(plan(cluster, { leftOut: elsewhere }).applies, []);
});

test('nothing is pruned while a namespace is left out: a fleet there may list it', () => {
  const elsewhere = new Map([['elsewhere', { bytes: 2, plural: 'etcdfleets', mostBytes: 1 }]]);
  const source = { url: fleet.spec.git.url, ref: fleet.spec.git.ref, path: '.' };
  const pruning = fleetWith({ inventory: [entryOf('orders'), entryOf('gone')], source });
  const of = (more: object) =>
    plan(undefined, {
      fleet: { ...pruning, spec: { ...pruning.spec, prune: true } },
      clusters: [clusterOf('gone')],
      ...more,
    });
  assert.deepEqual(
    of({}).prune.map(({ metadata }) => metadata.name),
    ['gone'],
  );
  assert.deepEqual(
    of({ leftOut: elsewhere }).keep.map(({ because }) => because),
    ['NamespaceLeftOut'],
  );
});

test('a cluster that is being deleted is waited for', () => {
  const { applies, leaving } = plan(clusterOf('orders', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  assert.deepEqual([applies.length, leaving.length], [0, 1]);
});

test('what this very revision left is not applied again, unless it was touched', () => {
  const settled = fleetWith({ revision: { attempted: revision }, inventory: [entryOf('orders')] });
  const kinds = (cluster: ReturnType<typeof clusterOf>) =>
    plan(cluster, { fleet: settled }).applies.map(({ kind }) => kind);
  assert.deepEqual(kinds(clusterOf('orders')), ['settled']);
  assert.deepEqual(kinds(clusterOf('orders', { generation: 2 })), ['update']);
  assert.deepEqual(kinds(clusterOf('orders', { uid: 'another' })), ['update']);
});

const applied = { revision: { attempted: revision, applied: revision }, inventory: [entryOf('orders')] };
const waiting = { ...applied, conditions: conditions(['Unlisted', 'True']) };
for (const [title, unchanged, state, clusters, options] of [
  ['everything is as it was left', true, applied, [clusterOf('orders')], {}],
  ['an object was edited', false, applied, [clusterOf('orders', { generation: 2 })], {}],
  ['an object was deleted', false, applied, [], {}],
  ['an object is being deleted', false, applied, [clusterOf('orders', { deletionTimestamp: 'x' })], {}],
  ['an object was made anew', false, applied, [clusterOf('orders', { uid: 'another' })], {}],
  ['a stranger bears our label', true, applied, [clusterOf('orders'), clusterOf('stray')], {}],
  ['a cluster of nobody came to be', true, applied, [clusterOf('orders'), clusterOf('x', { owner: '' })], {}],
  [
    'another revision was attempted',
    false,
    { ...applied, revision: { attempted: 'x', applied: revision } },
    [clusterOf('orders')],
    {},
  ],
  [
    'the revision was never applied whole',
    false,
    { ...applied, revision: { attempted: revision } },
    [clusterOf('orders')],
    {},
  ],
  [
    'Git was looked at for a new spec, and was not read',
    false,
    { ...applied, conditions: conditions(['SourceReady', 'False']) },
    [clusterOf('orders')],
    {},
  ],
  ["the fleet's own spec moved", false, { ...applied, observedGeneration: 0 }, [clusterOf('orders')], {}],
  ['a deletion waits for a confirmation', true, waiting, [clusterOf('orders')], { prune: true }],
  [
    'the confirmation came',
    false,
    waiting,
    [clusterOf('orders')],
    { prune: true, annotations: { 'etcd.ratchet.dev/confirm-prune': `${sha}/1` } },
  ],
] as const) {
  test(`${unchanged ? 'nothing is' : 'the tree is'} fetched when ${title}`, () => {
    assert.equal(isUnchanged(fleetWith(state, options), revision, clusters), unchanged);
  });
}

test('thirty thousand clusters are compared, planned and judged for pruning in linear time', () => {
  const names = Array.from({ length: 30_000 }, (_, n) => `c${n}`);
  const clusters = names.map((name) => clusterOf(name));
  const status = {
    revision: { attempted: revision, applied: revision },
    inventory: names.map((name) => entryOf(name)),
  };
  const owner = fleetWith(status, { prune: true });
  const before = process.cpuUsage();
  assert.ok(isUnchanged(owner, revision, clusters));
  const whole = treeOf(names.map((name) => specOf(name)));
  const input = { fleet: owner, fleets: [owner, fleetWith(status, { name: 'other' })], clusters, revision };
  assert.equal(planFleet({ ...input, tree: whole }).applies.length, names.length);
  assert.equal(planFleet({ ...input, tree: treeOf([specOf('c0')]) }).keep.length, names.length - 1);
  const { user, system } = process.cpuUsage(before);
  // Each with each takes twenty seconds.
  assert.ok((user + system) / 1_000 < 4_000);
});
