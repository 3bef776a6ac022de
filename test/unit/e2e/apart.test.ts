import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { apart } from '../../e2e/support/foretelling/apart.ts';

const tests = join(import.meta.dirname, '../../e2e');
const runbooks: Readonly<Record<string, readonly string[]>> = {
  runbooks: ['members', 'kubernetes'],
  'runbooks-data': ['data', 'certificates'],
  'runbooks-recovery': ['recovery'],
};

test('each cluster that is apart is in its story', () => {
  for (const [story, clusters] of Object.entries(apart)) {
    const files = runbooks[story]?.map((file) => `support/runbooks/${file}.ts`) ?? [`${story}.test.ts`];
    const source = files.map((file) => readFileSync(join(tests, file), 'utf8')).join('\n');
    for (const name of Object.keys(clusters)) assert.ok(source.includes(`'${name}'`), `${story}: ${name}`);
  }
});
