import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { confirmationFor, type KeptBecause } from '../../../reconcile/fleet/prune.ts';
import { clusterOf, entryOf, fleetWith, problemAbout, revision, specOf, treeOf } from './objects.ts';

const orders = clusterOf('orders');
const inventory = [entryOf('orders'), entryOf('users')];
const good = { fleet: fleetWith({ inventory }, { prune: true }), tree: treeOf([specOf('users')]) };

interface Case {
  readonly title: string;
  readonly because: KeptBecause;
  readonly change: Partial<typeof good & { fleets: readonly ReturnType<typeof fleetWith>[] }>;
}

const elsewhere = fleetWith({ inventory: [entryOf('orders')] }, { name: 'other' });
const cases: readonly Case[] = [
  { title: 'pruning is off', because: 'PruneOff', change: { fleet: fleetWith({ inventory }) } },
  {
    title: 'something could not be read',
    because: 'TreeIncomplete',
    change: { tree: treeOf([specOf('users')], { complete: false }) },
  },
  {
    title: 'another document is broken',
    because: 'DocumentsBroken',
    change: { tree: treeOf([specOf('users')], { problems: [problemAbout('x.yaml', 'x')] }) },
  },
  { title: 'the tree lists nothing', because: 'TreeEmpty', change: { tree: treeOf([]) } },
  {
    title: 'the path was renamed',
    because: 'SourceMoved',
    change: {
      fleet: fleetWith(
        { inventory, source: { url: 'https://git.example.com/platform/etcd.git', ref: 'main', path: 'old' } },
        { prune: true },
      ),
    },
  },
  {
    title: 'the repository is another',
    because: 'SourceMoved',
    change: {
      fleet: fleetWith(
        { inventory, source: { url: 'https://git.example.com/x/y.git', ref: 'main', path: '.' } },
        { prune: true },
      ),
    },
  },
  {
    title: 'the ref is another',
    because: 'SourceMoved',
    change: {
      fleet: fleetWith(
        { inventory, source: { url: 'https://git.example.com/platform/etcd.git', ref: 'next', path: '.' } },
        { prune: true },
      ),
    },
  },
  {
    title: 'it is not recorded where it came from',
    because: 'SourceUnknown',
    change: { fleet: fleetWith({ inventory: [entryOf('orders', ''), entryOf('users')] }, { prune: true }) },
  },
  {
    title: 'its file is still there',
    because: 'FileStillThere',
    change: { tree: treeOf([specOf('users')], { files: new Set(['users.yaml', 'orders.yaml']) }) },
  },
  { title: 'another fleet lists it', because: 'ListedElsewhere', change: { fleets: [good.fleet, elsewhere] } },
];

test('a cluster whose file is gone is deleted when nothing speaks against it', () => {
  const plan = planFleet({ ...good, fleets: [good.fleet], clusters: [orders, clusterOf('users')], revision });
  assert.deepEqual(plan.prune, [orders]);
  assert.deepEqual(plan.keep, []);
});

for (const { title, because, change } of cases) {
  test(`nothing is deleted when ${title}`, () => {
    const plan = planFleet({
      ...good,
      fleets: [good.fleet],
      clusters: [orders, clusterOf('users')],
      revision,
      ...change,
    });
    assert.deepEqual(plan.prune, []);
    assert.equal(plan.keep.find(({ object }) => object === orders)?.because, because);
  });
}

const protectedBy = (word: string) => ({ annotated: { 'etcd.ratchet.dev/prune': word } });

test('what a document protected is kept by disabled, and by a word that is neither', () => {
  for (const word of ['disabled', 'Confirm', '']) {
    const clusters = [clusterOf('orders', protectedBy(word)), clusterOf('users')];
    const plan = planFleet({ ...good, fleets: [good.fleet], clusters, revision });
    assert.deepEqual(plan.prune, []);
    assert.deepEqual(plan.keep, [{ object: { ...clusters[0], kind: 'EtcdCluster' }, because: 'PruneDisabled' }]);
    assert.equal(plan.confirmation, undefined);
  }
});

test('what a document protected by confirm waits alone for the approval of the fleet', () => {
  const careful = clusterOf('orders', protectedBy('confirm'));
  const schedule = { ...clusterOf('nightly'), kind: 'EtcdBackupSchedule' as const };
  const status = { inventory: [...inventory, { ...entryOf('nightly'), kind: 'EtcdBackupSchedule' }] };
  const planWith = (annotations: Record<string, string>) => {
    const fleet = fleetWith(status, { prune: true, annotations });
    const others = [schedule] as never;
    return planFleet({ ...good, fleet, fleets: [fleet], clusters: [careful], others, revision });
  };
  const names = ({ prune }: ReturnType<typeof planWith>) => prune.map(({ metadata }) => metadata.name);
  const asked = planWith({});
  assert.deepEqual(names(asked), ['nightly']);
  assert.deepEqual(
    asked.keep.map(({ because }) => because),
    ['NeedsConfirmation'],
  );
  assert.equal(asked.confirmation, confirmationFor(revision, [careful]));
  for (const wrong of ['confirm', confirmationFor(revision, [careful, schedule as never])])
    assert.deepEqual(names(planWith({ 'etcd.ratchet.dev/confirm-prune': wrong })), ['nightly']);
  const right = planWith({ 'etcd.ratchet.dev/confirm-prune': asked.confirmation ?? '' });
  assert.deepEqual(names(right), ['orders', 'nightly']);
});

test('an object with another label, or named by a broken document, is not even unlisted', () => {
  const others = [
    clusterOf('a', { owner: 'other' }),
    clusterOf('b', { owner: '' }),
    clusterOf('c', { annotated: { 'etcd.ratchet.dev/hand-over-to': 'platform/other' } }),
    clusterOf('d', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    clusterOf('e'),
  ];
  const tree = treeOf([specOf('users')], { problems: [problemAbout('e.yaml', 'e')] });
  const plan = planFleet({ ...good, tree, fleets: [good.fleet], clusters: others, revision });
  assert.deepEqual([plan.prune, plan.keep], [[], []]);
});

test('a confirmation of another commit or another set confirms nothing', () => {
  const two = [orders, clusterOf('carts')];
  const state = { inventory: [...inventory, entryOf('carts')] };
  const planWith = (confirmation: string) => {
    const fleet = fleetWith(state, { prune: true, annotations: { 'etcd.ratchet.dev/confirm-prune': confirmation } });
    return planFleet({ ...good, fleet, fleets: [fleet], clusters: two, revision });
  };
  const right = confirmationFor(revision, two);
  assert.deepEqual(planWith(right).prune, two);
  for (const wrong of ['', 'true', confirmationFor(revision, [orders]), right.replaceAll('a', 'b')]) {
    const plan = planWith(wrong);
    assert.deepEqual(plan.prune, []);
    assert.equal(plan.confirmation, right);
  }
});

test('a confirmation is about objects, not names: it does not cover one made anew', () => {
  const carts = clusterOf('carts');
  const anew = clusterOf('carts', { uid: 'uid-carts-made-anew' });
  assert.notEqual(confirmationFor(revision, [orders, anew]), confirmationFor(revision, [orders, carts]));
  assert.equal(confirmationFor(revision, [carts, orders]), confirmationFor(revision, [orders, carts]));
});

test('property: nothing is ever deleted unless every condition of I8 holds', () => {
  const names = ['orders', 'users', 'carts', 'ads'];
  const some = fc.subarray(names);
  fc.assert(
    fc.property(
      fc.record({
        live: some,
        owned: some,
        listed: some,
        recorded: some,
        filesLeft: some,
        elsewhere: some,
        broken: some,
        prune: fc.boolean(),
        complete: fc.boolean(),
        moved: fc.boolean(),
        confirmed: fc.boolean(),
        disabled: some,
        careful: some,
      }),
      (input) => {
        const clusters = input.live.map((name) =>
          clusterOf(name, {
            owner: input.owned.includes(name) ? 'production' : 'other',
            ...(input.careful.includes(name) && protectedBy('confirm')),
            ...(input.disabled.includes(name) && protectedBy('disabled')),
          }),
        );
        const source = {
          url: 'https://git.example.com/platform/etcd.git',
          ref: 'main',
          path: input.moved ? 'old' : '.',
        };
        const status = { inventory: input.recorded.map((name) => entryOf(name)), source };
        const other = fleetWith({ inventory: input.elsewhere.map((name) => entryOf(name)) }, { name: 'other' });
        const specs = input.listed.map((name) => specOf(name));
        const files = new Set([...input.listed, ...input.filesLeft].map((name) => `${name}.yaml`));
        const problems = input.broken.map((name) => problemAbout(`${name}.yaml`, name));
        const tree = treeOf(specs, { files, problems, complete: input.complete });
        const planWith = (annotations: Record<string, string>) => {
          const fleet = fleetWith(status, { prune: input.prune, annotations });
          return planFleet({ fleet, fleets: [fleet, other], clusters, revision, tree });
        };
        const first = planWith({});
        const plan =
          input.confirmed && first.confirmation
            ? planWith({ 'etcd.ratchet.dev/confirm-prune': first.confirmation })
            : first;
        for (const { metadata } of plan.prune) {
          const { name } = metadata;
          assert.ok(
            input.prune && input.complete && !input.moved && input.broken.length === 0 && input.listed.length > 0,
          );
          assert.ok(input.owned.includes(name) && input.recorded.includes(name));
          assert.ok(!input.disabled.includes(name) && (!input.careful.includes(name) || input.confirmed));
          assert.ok(!input.listed.includes(name) && !input.filesLeft.includes(name) && !input.elsewhere.includes(name));
        }
        assert.ok(plan.prune.length < 2 || input.confirmed);
        const kept = plan.keep.map(({ object }) => object.metadata.name);
        assert.equal(
          new Set([...kept, ...plan.prune.map(({ metadata }) => metadata.name)]).size,
          kept.length + plan.prune.length,
        );
      },
    ),
    { numRuns: 2000 },
  );
});
