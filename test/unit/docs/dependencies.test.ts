import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from './pages.ts';

const wanted = JSON.parse(read('package.json')) as Readonly<Record<string, Readonly<Record<string, string>>>>;
const page = read('docs/reference/dependencies.md');

for (const [list, heading] of [
  ['dependencies', 'In the image'],
  ['devDependencies', 'For building and testing only'],
  ['optionalDependencies', 'Where it is there'],
] as const) {
  test(`each of the ${list} is there for a reason that the page says`, () => {
    const [, section = ''] = page.split(`## ${heading}\n`);
    const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)];
    assert.deepEqual(rows.map(([, name]) => name).toSorted(), Object.keys(wanted[list] ?? {}).toSorted());
    for (const [, name, why = ''] of rows) assert.ok(why.trim().length > 4, name);
  });
}
