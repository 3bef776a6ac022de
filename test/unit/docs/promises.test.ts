import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkout, read } from './pages.ts';

const page = 'docs/explanation/threat-model.md';
const promises = [...read(page).matchAll(/^\| (.+?) \| \[[^\]]+\]\(([^)]+)\): "([^"]+)" \|$/gm)];

test('the promises of the threat model are found', () => {
  const [, table = ''] = /## Promises\n\n([\s\S]*?)\n\n## /.exec(read(page)) ?? [];
  assert.ok(promises.length >= 15);
  assert.equal(promises.length, table.split('\n').length - 2, 'each row names its test');
});

for (const [, promise = '', file = '', title = ''] of promises) {
  test(`a test holds: ${promise}`, () => {
    const source = readFileSync(join(checkout, dirname(page), file), 'utf8');
    assert.match(source, /\btest\(/);
    assert.ok(source.includes(title), `${file} has no test that says "${title}"`);
  });
}
