import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compared } from '../../e2e/support/foretelling/compared.ts';

/** Calls of what ticks warm: `scene.ts`. */
const warm = /\b(tickUntil|stepUntil|ticksUntil)\(/;

test('each story that is held against its plans is there, once, and has ticks that foretell', () => {
  assert.deepEqual(compared, [...new Set(compared)].toSorted());
  for (const story of compared)
    assert.match(readFileSync(join(import.meta.dirname, `../../e2e/${story}.test.ts`), 'utf8'), warm, story);
});
