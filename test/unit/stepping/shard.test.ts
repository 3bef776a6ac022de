import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { labels } from '../../../manifests/render/names.ts';
import { unitOf, unitsBeside } from '../../../reconcile/fleet/unit.ts';
import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { isIn, mostShards, slotOf } from '../../../reconcile/stepping/shard.ts';

const indexes = (of: number) => Array.from({ length: of }, (_, index) => index);
const takers = (unit: string, of: number, missing: readonly number[] = []) =>
  indexes(of).filter((index) => isIn({ index, of, missing }, unit));

test('each unit is stepped by exactly one shard, whatever their number', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: mostShards }), (unit, of) => {
      assert.equal(takers(unit, of).length, 1);
    }),
  );
});

test('what is of missing shards is stepped by exactly one of those that are there', () => {
  const some = fc
    .integer({ min: 2, max: 12 })
    .chain((of) => fc.record({ of: fc.constant(of), missing: fc.subarray(indexes(of), { maxLength: of - 1 }) }));
  fc.assert(
    fc.property(fc.string(), some, (unit, { of, missing }) => {
      const present = takers(unit, of, missing).filter((index) => !missing.includes(index));
      assert.equal(present.length, 1);
      const [own] = takers(unit, of);
      assert.ok(
        own !== undefined && takers(unit, of, missing).includes(own),
        'one that is there all the same has its own',
      );
      if (!missing.includes(own)) assert.deepEqual(present, [own], 'nothing else moves');
    }),
  );
});

test('every shard of 256 has a slot, and twice as many shards split those of each', () => {
  for (const count of [1, 2, 3, 7, 64, mostShards]) {
    const slots = indexes(mostShards).map((slot) => Math.floor((slot * count) / mostShards));
    assert.deepEqual([...new Set(slots)], indexes(count));
  }
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(1, 2, 4, 32, 128), (unit, of) => {
      const [few, twice] = [takers(unit, of)[0], takers(unit, 2 * of)[0]];
      assert.equal(Math.floor((twice ?? -1) / 2), few);
    }),
  );
});

test('a slot is the same for all time', () => {
  assert.deepEqual(['namespace shop', 'namespace payments', 'b5c0'].map(slotOf), [188, 139, 155]);
});

const object = (namespace: string, name: string, fleet?: string): KubeObject => ({
  metadata: { namespace, name, ...(fleet && { labels: { [labels.fleet]: fleet } }) },
});

test('the clusters of a fleet are one unit wherever they are, and others with their namespace', () => {
  const [a, b] = [object('shop', 'a', 'uid'), object('payments', 'b', 'uid')];
  assert.deepEqual([a, b].map(unitOf), ['uid', 'uid']);
  assert.deepEqual([object('shop', 'c'), object('shop', 'd')].map(unitOf), ['namespace shop', 'namespace shop']);
});

test('what names a cluster is stepped with it, also where it bears no label of its fleet', () => {
  const items = [object('shop', 'orders', 'uid'), object('payments', 'orders')];
  const lists = createLists(new Map());
  lists.keep('cluster', { items, resourceVersion: '1' });
  const named = [
    { ...object('shop', 'nightly'), of: 'orders' },
    { ...object('payments', 'nightly'), of: 'orders' },
    { ...object('shop', 'nightly'), of: 'gone' },
    { ...object('shop', 'nightly', 'other'), of: undefined },
  ];
  const units = unitsBeside(named, lists, ({ of }) => of);
  assert.deepEqual(units, ['uid', 'namespace payments', 'namespace shop', 'other']);
});
