import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseFile } from '../../../gitops/specs/parse.ts';
import { findSpecs } from '../../../gitops/specs/specs.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { specText } from './specs.ts';

/** Every position that the file is told to have must be in it. */
function assertInside(text: string, places: readonly { line: number; column: number }[]): void {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  for (const { line, column } of places) {
    if (line === 0) continue;
    const length = lines[line - 1]?.length;
    assert.ok(length !== undefined && column >= 1 && column <= length + 1, `${line}:${column} is outside of the file`);
  }
}

function examine(bytes: Buffer) {
  const parsed = parseFile('a.yaml', bytes);
  const found = findSpecs(
    { documents: parsed.documents, problems: parsed.problems, readWhole: parsed.problems.length === 0 },
    { validate: validateDocument },
  );
  return { ...found, documents: parsed.documents };
}

test('any bytes are read without throwing, and every position lies in the file', () => {
  const bytes = fc.oneof(
    fc
      .uint8Array({ maxLength: 300 })
      .map((raw) => Buffer.concat([Buffer.from('kind: EtcdCluster\n'), Buffer.from(raw)])),
    fc
      .string({ unit: fc.constantFrom(...' \t\r\n-:?[]{},&*!|>\'"%@`#abetcd<~'), maxLength: 200 })
      .map((text) => Buffer.from(`# ratchet\n${text}`)),
  );
  fc.assert(
    fc.property(bytes, (raw) => {
      const { problems, documents } = examine(raw);
      assertInside(raw.toString(), [...problems, ...documents]);
    }),
    { numRuns: 500 },
  );
});

test('a good document with any character changed never throws', () => {
  const text = specText('orders');
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ minLength: 0, maxLength: 2 }), (at, other) => {
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      const { specs, problems } = examine(Buffer.from(changed));
      assertInside(changed, problems);
      assert.ok(specs.length + problems.length > 0, `silently ignored:\n${changed}`);
    }),
    { numRuns: 500 },
  );
});

test('what any object is written as is read back as that object', () => {
  const value = fc.object({
    key: fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,9}$/),
    values: [fc.string(), fc.integer(), fc.boolean()],
    maxDepth: 4,
  });
  fc.assert(
    fc.property(value, (spec) => {
      const object = { apiVersion: 'etcd.ratchet.dev/v1alpha1', spec };
      assert.deepEqual(parseFile('a.yaml', Buffer.from(stringify(object))).documents[0]?.object, object);
      assert.deepEqual(parseFile('a.json', Buffer.from(JSON.stringify(object))).documents[0]?.object, object);
    }),
  );
});

test('a megabyte of keys is read in seconds, not minutes', () => {
  const keys = Array.from({ length: 60_000 }, (_, index) => `k${index}: v\n`).join('');
  const started = performance.now();
  parseFile('a.yaml', Buffer.from(`kind: EtcdCluster\n${keys}`));
  assert.ok(performance.now() - started < 10_000);
});

test('at most twenty problems are told per file', () => {
  const { problems } = parseFile('a.yaml', Buffer.from('kind: EtcdCluster\n]\n---\n'.repeat(50)));
  assert.equal(problems.length, 20);
});
