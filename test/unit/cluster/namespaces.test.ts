import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { labels } from '../../../manifests/render/names.ts';
import { namespacesFor } from '../../../reconcile/cluster/namespaces.ts';
import { haltsAbove } from '../../../reconcile/cluster/observe/halts.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/observe/room.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import { handOverAnnotation, isMarked } from '../../../reconcile/fleet/names.ts';
import { fleetOf, now, one } from './staged-objects.ts';

const fleetUids = ['first', 'second'];
const namespaces = ['a', 'b', 'c', 'd'];

/** A cluster as one of two fleets left it, or with only the label of one, or of none. */
const drawn = fc.record({
  namespace: fc.constantFrom(...namespaces),
  owner: fc.constantFrom(...fleetUids, 'unseen', undefined),
  isListed: fc.boolean(),
  isHandedOver: fc.boolean(),
  behind: fc.constantFrom(0, 0, 1, 3),
  unready: fc.constantFrom<readonly number[]>([], [], [1]),
  stage: fc.constantFrom({ stage: 'canary' }, { region: 'eu' }, {}),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

function objectsFor({ namespace, owner, isHandedOver, stage, ...rest }: Drawn, index: number): ClusterObjects {
  const metadata = {
    namespace,
    uid: `uid-${index}`,
    labels: { ...(owner !== undefined && { [labels.fleet]: owner }), ...stage },
    annotations: { ...(isHandedOver && { [handOverAnnotation]: 'others/fleet' }) },
  };
  return one(`cluster-${index}`, {}, { ...rest, metadata });
}

const limits = fc.record({
  maxClustersInProgress: fc.constantFrom<number | string>(1, 2, '50%'),
  hasHalts: fc.boolean(),
  isSuspended: fc.boolean(),
  /** Of the inventory, an object that is nowhere. */
  hasGone: fc.boolean(),
});
type Limits = typeof limits extends fc.Arbitrary<infer T> ? T : never;

function fleetFor(
  uid: string,
  { maxClustersInProgress, hasHalts, isSuspended, hasGone }: Limits,
  own: ClusterObjects[],
) {
  const { metadata, spec, status, ...others } = fleetOf(own);
  const inventory = own.map(({ cluster }, index) => ({
    ...(status?.inventory?.[index] ?? assert.fail()),
    namespace: cluster.metadata.namespace ?? '',
  }));
  const gone = { namespace: 'd', name: 'gone', uid: 'gone', generation: 1, source: 'a.yaml' };
  const rollout = { ...spec.rollout, ...(hasHalts && { haltAbove: { leaderChanges: 2 } }) };
  return {
    ...others,
    metadata: { ...metadata, uid },
    spec: { ...spec, maxClustersInProgress, rollout, suspend: isSuspended },
    status: { ...status, inventory: [...inventory, ...(hasGone ? [gone] : [])] },
  } as EtcdFleet;
}

const heldIn = (all: readonly ClusterObjects[], fleets: readonly EtcdFleet[]) => [
  clustersWithoutRoom(all, fleets),
  heldByStages(all, fleets, now),
  haltsAbove(all, fleets),
];

test('rooms, stages and halts of clusters are the same where only what they depend on is listed', () => {
  const seen = { narrow: 0, held: 0, untold: 0 };
  fc.assert(
    fc.property(
      fc.array(drawn, { minLength: 2, maxLength: 7 }),
      limits,
      limits,
      fc.nat(6),
      (some, ...[x, y, which]) => {
        const all = some.map(objectsFor);
        const fleets = fleetUids.map((uid, index) => {
          const own = all.filter((_, at) => some[at]?.owner === uid && some[at]?.isListed);
          return fleetFor(uid, index === 0 ? x : y, own);
        });
        const looked = all[which % all.length] ?? assert.fail();
        const needed = namespacesFor([looked.cluster], fleets);
        if (!needed) {
          seen.untold += 1;
          assert.ok(fleets.some((fleet) => isMarked(fleet, looked.cluster)));
          return;
        }
        const narrow = all.filter(({ cluster }) => needed.has(cluster.metadata.namespace ?? ''));
        const { uid = '' } = looked.cluster.metadata;
        const held = heldIn(all, fleets).map((map) => map.get(uid));
        assert.deepEqual(
          heldIn(narrow, fleets).map((map) => map.get(uid)),
          held,
        );
        if (narrow.length < all.length) seen.narrow += 1;
        if (narrow.length < all.length && held.some(Boolean)) seen.held += 1;
      },
    ),
    { numRuns: 500, seed: 30 },
  );
  assert.ok(seen.narrow > 100 && seen.held > 30 && seen.untold > 20, JSON.stringify(seen));
});
