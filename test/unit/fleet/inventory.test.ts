import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { labels as labelNames } from '../../../manifests/render/names.ts';
import { actOnFleet } from '../../../reconcile/fleet/act.ts';
import { handOverAnnotation } from '../../../reconcile/fleet/names.ts';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { clusterOf, entryOf, fleetWith, revision, specOf, treeOf } from './objects.ts';

/** Clusters that an editor would take out of what their fleet demands, by what any editor may write. */

const { fleet: fleetLabel } = labelNames;

for (const [title, labels, others, stays] of [
  ['gives it the label of another fleet', { [fleetLabel]: 'fleet-other' }, [], true],
  ['takes its label away', {}, [], true],
  ['hands it over to no fleet that is there', 'hand over', [], true],
  ['moved it to another fleet that applied it', { [fleetLabel]: 'fleet-other' }, ['orders'], false],
] as const) {
  test(`an inventory ${stays ? 'keeps' : 'lets go'} a cluster where an editor ${title}`, async () => {
    const kube = createFakeKube();
    const status = { revision: { attempted: revision }, inventory: [entryOf('orders'), entryOf('gone')] };
    kube.seed(resources.fleets, fleetWith(status, { prune: true }));
    const [fleet = assert.fail()] = kube.stored<EtcdFleet>(resources.fleets);
    const { metadata, ...rest } = clusterOf('orders');
    const annotations = { ...metadata.annotations, [handOverAnnotation]: 'nowhere/none' };
    const changed = labels === 'hand over' ? { ...metadata, annotations } : { ...metadata, labels };
    const other = fleetWith({ inventory: others.map((name) => entryOf(name)) }, { name: 'other' });
    const tree = treeOf([specOf('another')]);
    const clusters = [{ ...rest, metadata: changed }];
    const asked = { kube, signal: AbortSignal.timeout(20_000), log: () => undefined };
    const reading = { kind: 'tree', revision, tree } as const;
    const result = await actOnFleet({ ...asked, fleet, fleets: [fleet, other], clusters, reading });
    assert.ok(result.kind === 'acted');
    const { inventory = [], unlisted, pruned } = result.outcome;
    const kept = stays ? [{ ...entryOf('orders'), generation: 0 }] : [];
    assert.deepEqual(
      inventory.filter(({ name }) => name !== 'another'),
      kept,
    );
    assert.deepEqual(pruned, []);
    const told = stays && labels !== 'hand over' ? [{ key: 'payments/orders', because: 'LabelChanged' }] : [];
    assert.deepEqual(unlisted?.kept, told);
  });
}

for (const [title, marks, given] of [
  ['a hand-over', undefined, { [handOverAnnotation]: 'platform/sandbox' }],
  ['a label of no fleet', { [fleetLabel]: 'bogus' }, {}],
  ['no label', {}, {}],
] as const)
  test(`by ${title} no cluster leaves a fleet that asks for four eyes for one that does not`, () => {
    const people = [{ usernames: ['ada'], signers: ['ada@example.com'] }];
    const asking = (fleet: EtcdFleet): EtcdFleet => ({
      ...fleet,
      spec: { ...fleet.spec, approvals: { notByAuthor: { people } } },
    });
    const strict = asking(fleetWith({ inventory: [entryOf('orders')] }));
    const sandbox = fleetWith({}, { name: 'sandbox' });
    const { metadata, ...rest } = clusterOf('orders');
    const annotations = { ...metadata.annotations, ...given };
    const live = { ...rest, metadata: { ...metadata, ...(marks && { labels: marks }), annotations } };
    const planOf = (fleet: EtcdFleet, other: EtcdFleet) =>
      planFleet({ fleet, fleets: [other, fleet], clusters: [live], revision, tree: treeOf([specOf('orders')]) });
    const { applies, problems } = planOf(sandbox, strict);
    assert.deepEqual(applies, []);
    assert.match(problems[0]?.message ?? '', /was applied by fleet platform\/production, which asks for four eyes/);
    assert.equal(planOf(asking(sandbox), strict).problems.length, 0);
    assert.equal(planOf(sandbox, fleetWith({ inventory: [entryOf('orders')] })).problems.length, 0);
  });
