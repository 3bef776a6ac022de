import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { curesTable, reasonsPage } from '../../docs/reasons.ts';
import { rulesTable } from '../../docs/rules.ts';
import { fields } from '../../manifests/render/volume-fields.ts';
import { rules } from '../../reconcile/cluster/decide/decide.ts';

const checkout = join(import.meta.dirname, '../..');
const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/reasons.md'];
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');

test('the table of rules in ARCHITECTURE is the list that decides, in its order', () => {
  const rows = [
    ...read('ARCHITECTURE.md').matchAll(
      /^\| (\w+) \| \[([\w-]+)\]\((reconcile\/cluster\/decide\/rules\/[\w/-]+\.ts)\) \| [^|]+ \| [^|]+ \|$/gm,
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

test('ARCHITECTURE says of every annotation on a volume what it is for', () => {
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \| /gm)].map(
    ([, names = '']) => names,
  );
  const told = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name));
  const written = Object.values(fields).flatMap((field) => field.annotations.map(({ name }) => name.split('/')[1]));
  assert.deepEqual(
    written.filter((name) => !told.includes(name ?? '')),
    [],
  );
});

for (const document of documents) {
  test(`every relative link in ${document} leads to a file and to a heading that exist`, () => {
    const links = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const dead = links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(link, document));
    assert.deepEqual(dead, []);
  });
}

test('ARCHITECTURE tells why each rule stands where it does, as the code does', () => {
  const document = read('ARCHITECTURE.md');
  assert.ok(document.includes(rulesTable(document)), 'run npm run generate');
});

test('README and the reference list the reasons as the table in the code has them', () => {
  assert.ok(read('README.md').includes(curesTable()), 'run npm run generate');
  assert.equal(read('docs/reasons.md'), reasonsPage(), 'run npm run generate');
});

function leadsSomewhere(link: string, document: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(checkout, target))) return false;
  return heading === undefined || headingsOf(read(target)).includes(heading);
}

/** As GitHub makes anchors of them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
