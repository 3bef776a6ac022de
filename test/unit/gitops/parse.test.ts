import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseFile } from '../../../gitops/specs/parse.ts';
import { findSpecs } from '../../../gitops/specs/specs.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { processorSeconds } from '../../support/processor-time.ts';
import { specText } from './specs.ts';

/** Words of YAML 1.1 are no texts unless they are quoted. */
const quoted = { defaultStringType: 'QUOTE_DOUBLE' } as const;

/** Every position that the file is told to have must be in it. */
function assertInside(text: string, places: readonly { line: number; column: number }[]): void {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  for (const { line, column } of places) {
    if (line === 0) continue;
    const length = lines[line - 1]?.length;
    assert.ok(length !== undefined && column >= 1 && column <= length + 1, `${line}:${column} is outside of the file`);
  }
}

async function examine(bytes: Buffer) {
  const parsed = await parseFile('a.yaml', bytes);
  const found = await findSpecs(
    { documents: parsed.documents, problems: parsed.problems, readWhole: parsed.problems.length === 0 },
    { validate: validateDocument },
  );
  return { ...found, documents: parsed.documents };
}

test('any bytes are read without throwing, and every position lies in the file', async () => {
  const bytes = fc.oneof(
    fc
      .uint8Array({ maxLength: 300 })
      .map((raw) => Buffer.concat([Buffer.from('kind: EtcdCluster\n'), Buffer.from(raw)])),
    fc
      .string({ unit: fc.constantFrom(...' \t\r\n-:?[]{},&*!|>\'"%@`#abetcd<~'), maxLength: 200 })
      .map((text) => Buffer.from(`# ratchet\n${text}`)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (raw) => {
      const { problems, documents } = await examine(raw);
      assertInside(raw.toString(), [...problems, ...documents]);
    }),
    { numRuns: 500 },
  );
});

test('a good document with any character changed never throws', async () => {
  const text = specText('orders');
  await fc.assert(
    fc.asyncProperty(fc.nat(text.length - 1), fc.string({ minLength: 0, maxLength: 2 }), async (at, other) => {
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      const { specs, problems } = await examine(Buffer.from(changed));
      assertInside(changed, problems);
      assert.ok(specs.length + problems.length > 0, `silently ignored:\n${changed}`);
    }),
    { numRuns: 500 },
  );
});

test('what any object is written as is read back as that object', async () => {
  const value = fc.object({
    key: fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,9}$/),
    values: [fc.string(), fc.integer(), fc.boolean()],
    maxDepth: 4,
  });
  await fc.assert(
    fc.asyncProperty(value, async (spec) => {
      const object = { apiVersion: 'etcd.ratchet.dev/v1alpha1', spec };
      assert.deepEqual(
        (await parseFile('a.yaml', Buffer.from(stringify(object, quoted)))).documents[0]?.object,
        object,
      );
      assert.deepEqual((await parseFile('a.json', Buffer.from(JSON.stringify(object)))).documents[0]?.object, object);
    }),
  );
});

test('a megabyte of keys is read in seconds, not minutes', async () => {
  const keys = Array.from({ length: 60_000 }, (_, index) => `k${index}: v\n`).join('');
  const before = processorSeconds();
  await parseFile('a.yaml', Buffer.from(`kind: EtcdCluster\n${keys}`));
  assert.ok(processorSeconds() - before < 10);
});

test('of a file with many problems ten are told, and how many more there are', async () => {
  const { problems, complete } = await examine(Buffer.from('kind: EtcdCluster\n]\n---\n'.repeat(50)));
  assert.equal(problems.length, 11);
  assert.match(problems.at(-1)?.message ?? '', /^and 40 more problems in this file$/);
  assert.ok(!complete, 'an object whose problem is left out may not be pruned');
});

const both = (end = '\n') =>
  [
    ...['apiVersion: etcd.ratchet.dev/v1alpha1', 'kind: EtcdCluster', 'metadata: {name: orders, namespace: payments}'],
    ...['spec:', '<<<<<<< HEAD', '  replicas: 3', '||||||| 4ae1f00', '  replicas: 1', '=======', '  replicas: 5'],
    ...['>>>>>>> feature', '  version: 3.6.16', '---', 'a: [', ''],
  ].join(end);

for (const [what, text] of [
  ['with three sides', both()],
  ['of Windows', both('\r\n')],
  ['with two sides', both().replace(/\|{7}[^=]*/, '')],
] as const)
  test(`a merge conflict ${what} is named where it begins, and nothing else of its file`, async () => {
    const { problems, documents } = await parseFile('a.yaml', Buffer.from(text));
    assert.deepEqual(
      problems.map(({ line, column }) => [line, column]),
      [[5, 1]],
    );
    assert.match(problems[0]?.message ?? '', /^a merge conflict begins here: .*<<<<<<</);
    assert.deepEqual(documents, []);
  });

test('marks of a conflict within a text are a text', async () => {
  const notes = both()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
  const text = `${specText('orders')}---\nkind: ConfigMap\ndata:\n  notes: |\n${notes}`;
  const { problems, documents } = await parseFile('a.yaml', Buffer.from(text));
  assert.deepEqual(problems, []);
  assert.equal(documents.length, 2);
});
