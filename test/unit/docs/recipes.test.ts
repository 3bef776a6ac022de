import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { etcdOf } from '../../consumers/patroni/settings.ts';
import { type Consumer, consumerOf, known, problemsOf } from '../../consumers/settings/known.ts';
import { blocksOf } from '../../support/docs/blocks.ts';
import { documents, read } from './pages.ts';

const page = 'docs/how-to/recipes.md';
const shown = new Map(
  blocksOf(page, read(page)).flatMap(({ kind, text }) => {
    const consumer = kind === 'yaml' ? consumerOf(text) : undefined;
    return consumer ? [[consumer, text] as const] : [];
  }),
);
const outer = (Object.keys(known) as Consumer[]).filter((name) => name !== "Milvus's user.yaml");

test('the page shows settings of each known consumer, and links the code that they are from', () => {
  assert.deepEqual([...shown.keys()].sort(), [...outer].sort());
  assert.deepEqual(
    Object.values(known)
      .map(({ source }) => source)
      .filter((source) => !read(page).includes(source)),
    [],
  );
});

describe('the settings that the page shows', () => {
  for (const [consumer, text] of shown)
    test(`${consumer}: every field is one that it has, and none is missing`, () => {
      assert.deepEqual(problemsOf(consumer, parse(text)), []);
      for (const line of text.split('\n').filter((each) => /^\s+[\w.]+: [^{|]/.test(each) && !/#/.test(each))) {
        const misspelt = line.replace(/(\w)(\w*):/, '$1x$2:');
        assert.notDeepEqual(problemsOf(consumer, parse(text.replace(line, misspelt))), [], misspelt);
        const without = parse(text.replace(`${line}\n`, '')) as unknown;
        assert.notDeepEqual(problemsOf(consumer, without), [], `without ${line}`);
      }
    });
});

test('a value of another form is told with its field', () => {
  const text = shown.get('values of the chart milvus') ?? '';
  const schemed = problemsOf('values of the chart milvus', parse(text.replace('"orders.', '"https://orders.')));
  assert.match(schemed.join(), /externalEtcd\.endpoints\[\] is not like/);
  const inner = problemsOf('values of the chart milvus', parse(text.replace('tlsCACert', 'tlsCaCert')));
  assert.match(inner.join(), /etcd\.ssl\.tlsCACert is missing.*etcd\.ssl\.tlsCaCert is not one of the fields/);
});

test('the settings of Patroni are those that it was tried with', () => {
  const [, text = ''] = /`(\{host: .*\})`/.exec(read(page)) ?? [];
  const tried = etcdOf('orders.payments.svc:2379', '/etcd-tls');
  assert.deepEqual(parse(text), { ...tried, use_proxies: true });
});

test('no program of these is called tried, and the list of clients that were not names them all', () => {
  assert.match(read(page), /None of these programs was run here: not tried/);
  const [list = ''] = /^Not tried:[\s\S]+$/m.exec(read('docs/reference/clients.md')) ?? [];
  for (const program of ['Kamaji', 'HyperShift', 'vCluster', 'APISIX', 'Milvus'])
    assert.ok(list.includes(program), program);
  assert.ok(documents.includes(page));
});
