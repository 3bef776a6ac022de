import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenClusters } from '../../../functions/pass/chosen.ts';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { etcdFleetStatusSchema } from '../../../manifests/api/etcd-fleet-status.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import { type Structural, structural } from '../../../manifests/api/schema.ts';
import { actOnFleet } from '../../../reconcile/fleet/act.ts';
import { nothingApplied } from '../../../reconcile/fleet/outcome.ts';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { isUnchanged } from '../../../reconcile/fleet/unchanged.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { clusterOf, conditions, entryOf, fleetWith, revision, specOf, treeOf } from './objects.ts';

/** Tenants who give clusters of their own the label of another tenant's fleet. */

const applied = {
  revision: { attempted: revision, applied: revision },
  inventory: [entryOf('orders')],
};
const ready = { observedGeneration: 1, conditions: conditions(['Ready', 'True']) };
const broken = { observedGeneration: 1, conditions: conditions(['Stalled', 'True', 'it is broken on purpose']) };
const own = clusterOf('orders', {}, ready);
const stranger = (name = 'trap') => clusterOf(name, { namespace: 'tenant' }, broken);

async function statusWith(clusters: readonly ReturnType<typeof clusterOf>[], status: typeof applied = applied) {
  const kube = createFakeKube();
  kube.seed(resources.fleets, fleetWith(status));
  const found = await kube.get<EtcdFleet>(resources.fleets, 'platform', 'production');
  assert.ok(found);
  const outcome = nothingApplied({ kind: 'unchanged', revision });
  const signal = AbortSignal.timeout(10_000);
  const context = { kube, log: () => {}, signal, forgeDeadline: Date.now(), always: true, fleets: [found] };
  return (await reportFleet({ fleet: found, outcome }, clusters, context)).status;
}

test("a stranger's broken cluster with the fleet's label does not turn what the fleet reports", async () => {
  const status = await statusWith([own, stranger()]);
  assert.equal(conditionOf(status, 'Ready')?.status, 'True', conditionOf(status, 'Ready')?.message);
  assert.equal(conditionOf(status, 'Stalled'), undefined);
  assert.deepEqual(status?.clusters, { total: 1, ready: 1, reconciling: 0, stalled: 0 });
});

test('it is said once, by name, with what to do, and goes when the label goes', async () => {
  const said = conditionOf(await statusWith([own, stranger()]), 'ForeignLabel');
  assert.equal(said?.status, 'True');
  assert.match(said?.message ?? '', /^tenant\/trap bears .*label etcd\.ratchet\.dev\/fleet.*counts for nothing/);
  assert.equal(conditionOf(await statusWith([own, clusterOf('trap', { owner: '' })]), 'ForeignLabel'), undefined);
});

test('thousands of them make no long message, and no other one in the next pass', async () => {
  const names = Array.from({ length: 3_000 }, (_, n) => `trap-${n}`);
  const said = async (some: readonly string[]) =>
    conditionOf(await statusWith([own, ...some.map((name) => stranger(name))]), 'ForeignLabel')?.message ?? '';
  const message = await said(names);
  assert.match(message, /and others bear/);
  assert.ok(message.length < 1_000, `${message.length} characters`);
  assert.equal(await said(names.toReversed()), message);
});

test('the repository is not fetched again for it', () => {
  assert.ok(isUnchanged(fleetWith(applied), revision, [own, stranger()]));
});

test('it is no cluster that Git no longer lists: not kept, not deleted, not waited for', () => {
  const fleet = fleetWith(applied, { prune: true });
  const tree = treeOf([specOf('orders')]);
  const plan = planFleet({ fleet, fleets: [fleet], clusters: [own, stranger()], revision, tree });
  assert.deepEqual([plan.keep, plan.prune, plan.problems], [[], [], []]);
});

test('a pass for one fleet takes no step of it', () => {
  const fleet = fleetWith(applied);
  const chosen = chosenClusters(
    { fleet: { namespace: 'platform', name: 'production' }, clusters: [] },
    [fleet],
    [own, stranger()],
  );
  assert.deepEqual(
    chosen.map(({ metadata }) => metadata.name),
    ['orders'],
  );
});

test("a stranger's object under a name of the inventory is not the one that was applied", async () => {
  const again = clusterOf('orders', { uid: 'made-by-a-stranger' }, broken);
  const status = await statusWith([again]);
  assert.equal(status?.clusters?.total, 0);
  assert.match(conditionOf(status, 'ForeignLabel')?.message ?? '', /payments\/orders/);
});

test('a fleet of more than its inventory holds refuses the rest, and says where and what to do', () => {
  const specs = Array.from({ length: 5_002 }, (_, n) => specOf(`c${n}`));
  const fleet = fleetWith({ inventory: [entryOf('c5001')] });
  const plan = planFleet({ fleet, fleets: [fleet], clusters: [], revision, tree: treeOf(specs) });
  assert.deepEqual(
    plan.problems.map(({ file }) => file),
    ['c4999.yaml', 'c5000.yaml'],
  );
  assert.match(plan.problems[0]?.message ?? '', /^not applied: .*split the repository/);
  assert.ok(
    plan.applies.some(({ spec }) => spec.name === 'c5001'),
    'what it holds stays',
  );
});

test('long names fill the inventory sooner: it never outgrows an object of 1.5 MiB', () => {
  const long = (n: number) => `${'é'.repeat(900)}/${n}.yaml`;
  const specs = Array.from({ length: 3_000 }, (_, n) => specOf(`c${n}`, long(n)));
  const fleet = fleetWith();
  const plan = planFleet({ fleet, fleets: [fleet], clusters: [], revision, tree: treeOf(specs) });
  const inventory = plan.applies.map(({ spec }) => ({ ...entryOf(spec.name, spec.file), uid: '-'.repeat(36) }));
  assert.ok(Buffer.byteLength(JSON.stringify(inventory)) < 649_000);
  assert.ok(inventory.length > 300 && plan.problems.length === 3_000 - inventory.length);

  const moved = fleetWith({ inventory: specs.slice(0, 3_000).map(({ name }) => entryOf(name, 'x.yaml')) });
  const { problems } = planFleet({ fleet: moved, fleets: [moved], clusters: [], revision, tree: treeOf(specs) });
  assert.ok(problems.length > 2_000, 'nor by moving files');
});

test('in a full inventory one document replaces another, after what it replaces is deleted', () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `c${n}`);
  const fleet = fleetWith({ inventory: names.map((name) => entryOf(name)) }, { prune: true });
  const kept = names.slice(1).map((name) => specOf(name));
  const clusters = names.map((name) => clusterOf(name));
  const planOf = (...more: readonly string[]) => {
    const tree = treeOf([...kept, ...more.map((name) => specOf(name))]);
    return planFleet({ fleet, fleets: [fleet], clusters, revision, tree });
  };
  const one = planOf('new');
  assert.deepEqual(one.problems, []);
  assert.deepEqual(
    [...one.afterPrune].map(({ name }) => name),
    ['new'],
  );
  assert.deepEqual(
    one.prune.map(({ metadata }) => metadata.name),
    ['c0'],
  );
  assert.deepEqual(
    planOf('new', 'newer').problems.map(({ file }) => file),
    ['newer.yaml'],
  );
});

for (const [title, isRefused, created] of [
  ['is applied once what it replaces is deleted', false, 1],
  ['waits where what it replaces could not be deleted', true, 0],
] as const) {
  test(`in a full inventory a new document ${title}`, async () => {
    const names = Array.from({ length: 5_000 }, (_, n) => `c${n}`);
    const authorize = ({ verb }: { readonly verb: string }) => !(isRefused && verb === 'DELETE');
    const kube = createFakeKube({ authorize });
    const status = { revision: { attempted: revision }, inventory: names.map((name) => entryOf(name)) };
    const fleet = fleetWith(status, { prune: true });
    kube.seed(resources.fleets, fleet);
    const clusters = names.map((name) => clusterOf(name, { resourceVersion: '1' }));
    kube.seed(resources.clusters, ...clusters.slice(0, 1));
    const tree = treeOf([...names.slice(1), 'new'].map((name) => specOf(name)));
    const asked = { kube, signal: AbortSignal.timeout(20_000), log: () => undefined };
    const [live = fleet] = kube.stored<EtcdFleet>(resources.fleets);
    const [first] = kube.stored<EtcdCluster>(resources.clusters);
    const all = [...(first ? [first] : []), ...clusters.slice(1)];
    const reading = { kind: 'tree', revision, tree } as const;
    const result = await actOnFleet({ ...asked, fleet: live, fleets: [live], clusters: all, reading });
    assert.ok(result.kind === 'acted');
    assert.equal(result.outcome.inventory?.length, 5_000);
    assert.equal(result.outcome.changed.size, created, result.outcome.retries.join());
    assert.equal(
      result.outcome.retries.some((one) => one.includes('until the inventory has room')),
      isRefused,
    );
  });
}

/** Of a label: a prefix, a slash and a name. */
const longestKey = 317;

/** The longest that a schema admits, in ASCII; of commit statuses and messages, the longest that is written. */
function longest(schema: Structural, name = ''): unknown {
  const {
    type,
    properties = {},
    items,
    maxItems = 0,
    maxLength = 40,
    additionalProperties,
    maxProperties = 0,
  } = schema;
  if (name === 'inventory') return [];
  if (schema.enum) return schema.enum.toSorted((a, b) => b.length - a.length)[0];
  if (additionalProperties) {
    const keys = Array.from({ length: maxProperties }, (_, n) => `${n}`.padEnd(longestKey, 'x'));
    return Object.fromEntries(keys.map((key) => [key, longest(additionalProperties)]));
  }
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties).map(([key, of]) => [key, longest(of, key)]));
  if (type === 'array' && items) {
    const count = name === 'commitStatuses' ? 51 : maxItems;
    return Array.from({ length: count }, () => longest(items));
  }
  if (type === 'string') return 'x'.repeat(Math.min(maxLength, name === 'targetURL' ? 255 : 2_200));
  return type === 'boolean' ? false : 2_147_483_647;
}

test('a full inventory fits into an object of 1.5 MiB beside all else that its fleet may hold', () => {
  const rest = JSON.stringify([longest(structural(etcdFleetStatusSchema)), longest(definitions.EtcdFleet.spec)]);
  const annotations = 256 * 1024;
  assert.ok(rest.length > 400_000, 'everything is filled');
  assert.ok(rest.length + annotations + 649_000 + 20_000 < 1.5 * 1024 * 1024, String(rest.length));
});
