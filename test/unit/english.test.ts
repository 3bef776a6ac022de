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

/** A comment that begins with a clause makes its reader look for the subject. */
const clauseFirst = /^\s*(?:\/\/|\*|\/\*\*) ?(?:Who|Whoever|One that|One who|What is) /;

/** A lease is a lease, and a PersistentVolumeClaim is a PVC: "claim" was the word for both. */
const claimOfWhat = /^\s*(?:\/\/|\*|\/\*\*).*\b(?:an?|the|its|their|whose|this|that|of|all|former) claims?\b/i;

const code = ['{functions,gitops,manifests,reconcile,test,docs}/**/*.ts'];

for (const [what, pattern] of [
  ['begins with its subject, not with a clause in place of it', clauseFirst],
  ['says lease or PVC, and leaves "claim" to what others claim', claimOfWhat],
] as const)
  test(`a comment ${what}`, () => {
    const found = code
      .flatMap((files) => globSync(files, { cwd: checkout, exclude: ['**/node_modules'] }))
      .flatMap((file) => {
        const lines = readFileSync(join(checkout, file), 'utf8').split('\n');
        return lines.flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
      });
    assert.deepEqual(found, []);
  });

test('the patterns find a clause and a claim, and let a subject and a verb be', () => {
  assert.match('  // Who asks twice waits.', clauseFirst);
  assert.match(' * What is left goes on.', clauseFirst);
  assert.doesNotMatch('  /** Whose it is. */', clauseFirst);
  assert.match('  // Ends with the claim.', claimOfWhat);
  assert.doesNotMatch('/** It claims to be a CloudEvent. */', claimOfWhat);
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
