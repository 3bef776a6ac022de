import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from '../../../reconcile/clients/kube-errors.ts';
import { listPages } from '../../../reconcile/clients/kube-list.ts';
import { createListBudget } from '../../../reconcile/clients/list-budget.ts';
import { type ListOptions, resources } from '../../../reconcile/interfaces/kube.ts';

const mebibyte = 1024 * 1024;
type Sizes = Readonly<Record<string, readonly number[]>>;

/** An API server that pages, and knows `metadata.namespace!=`. */
function server(sizes: Sizes, { most = 1000 * mebibyte, options = {} as ListOptions } = {}) {
  const asked: string[] = [];
  const all = Object.entries(sizes).flatMap(([namespace, list]) =>
    list.map((bytes, index) => ({ metadata: { namespace, name: `${index}` }, bytes, data: 'x'.repeat(bytes) })),
  );
  const target = { verb: 'LIST', resource: resources.configMaps, namespace: options.namespace } as const;
  const budget = createListBudget(most);
  const listed = listPages({
    target,
    options,
    budget,
    async ask({ limit, continue: next = '0', fieldSelector = '' }, mostBytes) {
      asked.push(`${limit}${fieldSelector && ` ${fieldSelector}`}`);
      const without = fieldSelector.split(',').map((one) => one.replace('metadata.namespace!=', ''));
      const here = all.filter(
        ({ metadata: { namespace } }) =>
          !without.includes(namespace) && (options.namespace === undefined || options.namespace === namespace),
      );
      const [from, to] = [Number(next), Number(next) + Number(limit)];
      const items = here.slice(from, to);
      const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
      if (bytes > mostBytes) throw failure(target, 'TooLarge', 'too large');
      return { items, bytes, resourceVersion: '1', next: to < here.length ? String(to) : '' };
    },
  });
  return { listed, asked, budget };
}

test('a list of small objects is one page', async () => {
  const { listed, asked } = server({ payments: Array(400).fill(1000) });
  assert.equal((await listed).items.length, 400);
  assert.deepEqual(asked, ['500']);
});

test('a page that is too large is asked for again in smaller ones, which grow again', async () => {
  const { listed, asked } = server({ large: Array(8).fill(mebibyte), small: Array(2000).fill(10) });
  assert.equal((await listed).items.length, 2008);
  assert.ok(asked.length < 20, asked.join(' '));
  assert.equal(asked.at(-1), '500');
});

test('one object larger than a page is read alone', async () => {
  const { listed } = server({ large: [9 * mebibyte], small: [10] });
  assert.equal((await listed).items.length, 2);
});

test('a namespace that takes the room of others is asked for no more, and the others are whole', async () => {
  const sizes = { a: Array(300).fill(100), mallory: Array(30).fill(mebibyte), z: Array(300).fill(100) };
  const { listed, asked, budget } = server(sizes, { most: 10 * mebibyte });
  const namespaces = Map.groupBy((await listed).items, ({ metadata }) => metadata.namespace);
  assert.deepEqual(
    [...namespaces].map(([name, items]) => [name, items.length]),
    [
      ['a', 300],
      ['z', 300],
    ],
  );
  assert.deepEqual([...budget.leftOut.keys()], ['mallory']);
  assert.equal(asked.at(-1), '500 metadata.namespace!=mallory');
});

test('a list of that namespace alone fails, and names its size', async () => {
  const { listed } = server(
    { mallory: Array(30).fill(mebibyte) },
    { most: 10 * mebibyte, options: { namespace: 'mallory' } },
  );
  await assert.rejects(listed, { reason: 'TooLarge', class: 'retryable' });
});

test('nodes are of no namespace: while one is left out, they are listed as ever', async () => {
  const budget = createListBudget(mebibyte);
  const target = { verb: 'LIST', resource: resources.configMaps } as const;
  budget
    .begin(target.resource, '')
    .charge([{ metadata: { namespace: 'mallory', name: 'large' }, data: 'x'.repeat(2 * mebibyte) } as never], mebibyte);
  assert.deepEqual([...budget.leftOut.keys()], ['mallory']);
  const asked: unknown[] = [];
  const items = [{ metadata: { name: 'node-1' } }];
  const ask = async ({ fieldSelector }: { readonly fieldSelector?: string }) => {
    asked.push(fieldSelector);
    // As a real one does for every kind of no namespace.
    if (fieldSelector !== undefined)
      throw failure(target, 'BadAnswer', 'field label not supported: metadata.namespace');
    return { items, bytes: 10, resourceVersion: '1', next: '' };
  };
  const listing = { target: { ...target, resource: resources.nodes }, options: {}, budget, ask };
  assert.deepEqual((await listPages(listing)).items, items);
  assert.deepEqual(asked, [undefined]);
});

test('a limit is a limit, also in small pages', async () => {
  const { listed, asked } = server({ large: Array(40).fill(mebibyte) }, { options: { limit: 20 } });
  assert.equal((await listed).items.length, 20);
  assert.deepEqual(asked.slice(0, 2), ['20', '2']);
});
