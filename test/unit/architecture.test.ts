import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { curesTable, reasonsPage } from '../../docs/reasons.ts';
import { rulesTable } from '../../docs/rules.ts';
import { annotations } from '../../manifests/render/names.ts';
import { fields } from '../../manifests/render/volume-fields.ts';
import { rules } from '../../reconcile/cluster/decide/decide.ts';

const checkout = join(import.meta.dirname, '../..');
const rulesPage = 'docs/explanation/rules.md';
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');

test('the table of rules in the documents is the list that decides, in its order', () => {
  const rows = [
    ...read(rulesPage).matchAll(
      /^\| (\w+) \| \[([\w-]+)\]\(\.\.\/\.\.\/(reconcile\/cluster\/decide\/rules\/[\w/-]+\.ts)\) \| [^|]+ \| [^|]+ \|$/gm,
    ),
  ];
  const listed = rows.map(([, number, name]) => `${number} ${name}`);
  assert.deepEqual(
    listed,
    rules.map(({ name }, index) => `${index + 1} ${kebab(name)}`),
  );
  for (const [, , name = '', path = ''] of rows) {
    const exported = new RegExp(`^export (async )?function ${camel(name)}\\(`, 'm');
    assert.match(read(path), exported, `${name} is not in ${path}`);
  }
});

test('the documents say of every annotation on a volume what it is for', () => {
  const rows = [...read('docs/explanation/what-remembers-what.md').matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \| /gm)].map(
    ([, names = '']) => names,
  );
  const told = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name));
  const written = Object.values(fields).flatMap((field) => field.annotations.map(({ name }) => name.split('/')[1]));
  assert.deepEqual(
    written.filter((name) => !told.includes(name ?? '')),
    [],
  );
});

test('the reference lists every annotation that is not of a volume', () => {
  const page = read('docs/reference/annotations.md');
  const ofVolumes = Object.values(fields).flatMap((field) => field.annotations.map(({ name }) => name));
  const others = Object.values<string>(annotations).filter((name) => !ofVolumes.includes(name));
  assert.ok(others.length > 10);
  assert.deepEqual(
    others.filter((name) => !page.includes(`\`${name.split('/')[1]}\``)),
    [],
  );
});

test('the table of rules tells why each rule stands where it does, as the code does', () => {
  const document = read(rulesPage);
  assert.ok(document.includes(rulesTable(document)), 'run npm run generate');
});

test('the reference lists the reasons as the table in the code has them', () => {
  assert.ok(read('docs/reference/what-it-says.md').includes(curesTable()), 'run npm run generate');
  assert.equal(read('docs/reference/reasons.md'), reasonsPage(), 'run npm run generate');
});

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
