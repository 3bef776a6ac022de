import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, reasonsIn } from './pages.ts';

const wanted = JSON.parse(read('package.json')) as Readonly<Record<string, Readonly<Record<string, string>>>>;

for (const [list, ...headings] of [
  // Which of the two a package stands in, test/integration/manifests/materials.test.ts holds to what is bundled.
  ['devDependencies', 'In the image', 'For building and testing only'],
  ['optionalDependencies', 'Where it is there'],
] as const) {
  test(`each of the ${list} is there for a reason that the page says`, () => {
    const rows = headings.flatMap((heading) => reasonsIn(heading));
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), Object.keys(wanted[list] ?? {}).toSorted());
    for (const { name, why } of rows) assert.ok(why.trim().length > 4, name);
  });
}
