import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const checkout = join(import.meta.dirname, '../..');

/** Where every message, description and comment is held to plain English. */
const held = [
  '{functions,gitops,manifests,reconcile}/**/*.{ts,yaml}',
  '{README,ARCHITECTURE,CONTRIBUTING}.md',
  'docs/**/*.{md,ts}',
];

/** Words that hide who acts, or what is meant: name the member, the invocation, the person. */
const hiding = /\b(nobody|somebody|anybody|everybody|whoever|whomever|such an? one)\b/i;

/** Names in the code. */
const names = /\bkind: 'nobody'|\bcase 'nobody'|\bnobody: Pick<|\?\? nobody\b|, nobody \}/g;

test('messages, comments and documents name who acts', () => {
  const files = held.flatMap((pattern) => globSync(pattern, { cwd: checkout, exclude: ['**/node_modules'] }));
  assert.ok(files.length > 100, 'the files are found');
  const hidden = files.flatMap((file) => {
    const text = readFileSync(join(checkout, file), 'utf8').replace(names, '');
    return text.split('\n').flatMap((line) => (hiding.test(line) ? [`${file}: ${line.trim()}`] : []));
  });
  assert.deepEqual(hidden, []);
});

test('the name of a test is one sentence of at most 90 characters that names who acts', () => {
  const files = globSync('test/**/*.test.ts', { cwd: checkout });
  const named = files.flatMap((file) =>
    [...readFileSync(join(checkout, file), 'utf8').matchAll(/\b(?:test|describe)\(\s*(['"`])(.*?)\1,/g)].map(
      ([, , name = '']) => ({ file, name: name.replace(/\$\{[^}]*\}/g, '…') }),
    ),
  );
  assert.ok(named.length > 1000, 'the names are found');
  assert.deepEqual(
    named.filter(({ name }) => name.length > 90 || hiding.test(name)),
    [],
  );
});
