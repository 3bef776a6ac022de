import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const checkout = join(import.meta.dirname, '../..');

/** Words that name nothing: the reader has to guess whether a member, an invocation or a person is meant. */
const vague = /\b(nobody|whoever|somebody|someone|such a one|who)\b/i;

/** Names in code, like `who` in `whoAmI`, and what a message fills in, are no prose. */
const filledIn = /\$\{[^}]*\}/g;

/** Comments and strings; the rest of a line is code. */
const prose = /\/\/.*|\/?\*.*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`?/g;

function vagueIn(line: string): boolean {
  return (line.replace(filledIn, '').match(prose) ?? []).some((text) => vague.test(text));
}

test('comments and messages of reconcile/ name the member, the invocation or the person', () => {
  const files = globSync('reconcile/**/*.ts', { cwd: checkout });
  assert.ok(files.length > 300, 'the files are found');
  const found = files.flatMap((file) =>
    readFileSync(join(checkout, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => (vagueIn(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
  );
  assert.deepEqual(found, []);
});

test('a vague word is found in a comment and in a message, and not in a name of the code', () => {
  assert.ok(vagueIn('  // Nobody waits for it.'));
  assert.ok(vagueIn(' * left to whoever comes next'));
  assert.ok(vagueIn("throw moved('the volume is used by somebody else');"));
  assert.ok(!vagueIn(['const who = whoAmI(`the user $', '{who}`);'].join('')));
});
