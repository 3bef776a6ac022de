import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { onlyHere } from '../../e2e/support/only-here.ts';

const stories = globSync('*.test.ts', { cwd: join(import.meta.dirname, '../../e2e') });

test('each story says what only real parts can show, and no row is of a story that is gone', () => {
  assert.deepEqual(Object.keys(onlyHere).toSorted(), stories.map((file) => basename(file, '.test.ts')).toSorted());
});

test('it says so in one sentence that fits a line, and no two stories say the same', () => {
  const sentences = Object.values(onlyHere).map((row) => row.onlyHere);
  assert.deepEqual(
    sentences.filter((text) => text.length > 100 || /[.;:]/.test(text) || text.split(' ').length < 4),
    [],
  );
  assert.equal(new Set(sentences).size, sentences.length);
});

test('about nine stories are of the first ring', () => {
  const first = Object.values(onlyHere).filter(({ ring }) => ring === 1);
  assert.ok(first.length >= 6 && first.length <= 10, `${first.length}`);
});
