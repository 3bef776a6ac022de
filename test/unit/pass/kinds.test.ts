import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { kinds } from '../../../reconcile/kinds.ts';
import type { Kind } from '../../../reconcile/stepping/kind.ts';

const checkout = join(import.meta.dirname, '../../..');

test('functions/pass names no kind: what a pass does to each stands in the table of kinds', () => {
  const files = globSync('functions/pass/**/*.ts', { cwd: checkout });
  assert.ok(files.length > 10);
  for (const file of files) {
    const lines = readFileSync(join(checkout, file), 'utf8').split('\n');
    const naming = lines.filter((line) => /backup|restore|schedule|\bnode/i.test(withoutOthers(line)));
    assert.deepEqual(naming, [], file);
  }
});

test('a pass fits 40 lines', () => {
  assert.ok(readFileSync(join(checkout, 'functions/pass/pass.ts'), 'utf8').split('\n').length <= 41);
});

test('a kind comes only after kinds that stand above it, and says why', () => {
  const above = new Set<string>();
  for (const [name, kind] of Object.entries<Kind>(kinds)) {
    for (const [before, why] of Object.entries(kind.after)) {
      assert.ok(above.has(before), `${name} after ${before}`);
      assert.ok(why.length > 20, name);
    }
    above.add(name);
  }
});

test('whatever else a row names is a kind of the table', () => {
  for (const [name, kind] of Object.entries<Kind>(kinds)) {
    const { changes = {}, waits, again } = kind;
    for (const other of [
      ...Object.keys(changes),
      ...Object.keys(waits?.until ?? {}),
      ...Object.keys(again?.after ?? {}),
    ])
      assert.ok(Object.hasOwn(kinds, other), `${name}: ${other}`);
  }
});

/** Without modules of the runtime, and the schedule of the CronJob that runs ticks. */
function withoutOthers(line: string): string {
  return line
    .replaceAll(/'node:[a-z/]+'/g, '')
    .replaceAll('NodeJS.', '')
    .replace(/readonly schedule\?: string|schedule = ''|dueTimes\(schedule, /, '');
}
