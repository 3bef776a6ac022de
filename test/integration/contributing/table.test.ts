/** What the rows of CONTRIBUTING's table say must be added, and whether their toys still fit. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { textsWith } from './adding.ts';
import { inCheckout } from './checkout.ts';
import { addings } from './rows.ts';
import { isNamed, rowsOf } from './table.ts';

const rows = rowsOf(readFileSync(new URL('../../../CONTRIBUTING.md', import.meta.url), 'utf8'));

test('every row of the table is tried', () => {
  const tried = new Set(addings.flatMap(({ what }) => what));
  assert.ok(rows.size > 0);
  assert.deepEqual(
    [...rows.keys()].filter((row) => !tried.has(row)),
    [],
  );
});

for (const { what, pieces } of addings) {
  test(`the row "${what.join(', ')}" names every file that its toy needs`, () => {
    for (const one of what) assert.ok(rows.has(one), `CONTRIBUTING has no row ${one}`);
    const places = what.flatMap((one) => rows.get(one) ?? []);
    const unnamed = pieces.filter(({ file, missedBy }) => missedBy !== 'toy' && !isNamed(file, places));
    assert.deepEqual(
      unnamed.map(({ file }) => file),
      [],
    );
    assert.ok(textsWith(pieces, inCheckout).size > 0, 'its pieces fit the files that there are');
  });
}
