import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createListBudget, weightOf } from '../../../reconcile/clients/list-budget.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';

const mebibyte = 1024 * 1024;
const { configMaps, clusters, nodes } = resources;

function objects(namespace: string | undefined, count: number, bytes: number) {
  return Array.from({ length: count }, (_, index) => ({
    metadata: { name: `one-${index}`, ...(namespace !== undefined && { namespace }) },
    data: { a: 'x'.repeat(bytes) },
  }));
}

function charged(budget: ReturnType<typeof createListBudget>, ...lists: Parameters<typeof begin>[1][]) {
  for (const one of lists) begin(budget, one);
  return [...budget.leftOut.keys()];
}

function begin(
  budget: ReturnType<typeof createListBudget>,
  [resource, items]: readonly [typeof configMaps | typeof clusters | typeof nodes, ReturnType<typeof objects>],
) {
  budget.begin(resource, '').charge(items, JSON.stringify(items).length);
}

test('the largest namespace is left out, and no other, once all lists together hold too much', () => {
  const budget = createListBudget(10 * mebibyte);
  const many = [...objects('payments', 20, 1000), ...objects('mallory', 12, mebibyte), ...objects('zoo', 20, 1000)];
  assert.deepEqual(charged(budget, [clusters, objects('payments', 50, 1000)], [configMaps, many]), ['mallory']);
  const why = budget.leftOut.get('mallory') ?? assert.fail('not left out');
  assert.equal(why.plural, 'configmaps');
  assert.ok(why.bytes > 12 * mebibyte && why.bytes < 13 * mebibyte, `${why.bytes}`);
});

test('a namespace that is small in each kind and large in all together is left out', () => {
  const budget = createListBudget(10 * mebibyte);
  const six = objects('mallory', 6, mebibyte);
  assert.deepEqual(charged(budget, [clusters, six]), []);
  assert.deepEqual(charged(budget, [configMaps, six]), ['mallory']);
});

test('what an earlier list of the same held is given back', () => {
  const budget = createListBudget(10 * mebibyte);
  const six = objects('payments', 6, mebibyte);
  assert.deepEqual(charged(budget, [configMaps, six], [configMaps, six], [configMaps, six]), []);
});

test('objects of no namespace leave out no namespace', () => {
  const budget = createListBudget(10 * mebibyte);
  assert.deepEqual(
    charged(budget, [nodes, objects(undefined, 30, mebibyte)], [clusters, objects('payments', 1, 9)]),
    [],
  );
});

test('no JSON weighs more than 24 times its bytes, however deep', () => {
  const shapes = {
    'empty objects': `[${'{},'.repeat(1000)}{}]`,
    'empty lists': `[${'[],'.repeat(1000)}[]]`,
    'short keys': `{${Array.from({ length: 1000 }, (_, key) => `"k${key}":""`).join(',')}}`,
    depth: `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    digits: `[${'1,'.repeat(1000)}1]`,
  };
  for (const [what, text] of Object.entries(shapes)) {
    const weight = weightOf(JSON.parse(text));
    assert.ok(weight <= 24 * text.length, `${what}: ${weight} for ${text.length}`);
  }
});
