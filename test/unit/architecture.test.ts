import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { rules } from '../../reconcile/cluster/decide.ts';

const checkout = join(import.meta.dirname, '../..');
const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');

test('the table of rules in ARCHITECTURE is the list that decides, in its order', () => {
  const rows = [
    ...read('ARCHITECTURE.md').matchAll(/^\| (\w+) \| \[([\w-]+)\]\((reconcile\/cluster\/rules\/[\w-]+\.ts)\) \| /gm),
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

for (const document of documents) {
  test(`every relative link in ${document} leads to a file and to a heading that exist`, () => {
    const links = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const dead = links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(link, document));
    assert.deepEqual(dead, []);
  });
}

test('README has a cure for every reason that a member or a rule is Stalled with', () => {
  const cures = read('README.md');
  const files = globSync('reconcile/cluster/{*,rules/*}.ts', { cwd: checkout });
  const given = files.flatMap((path) => reasonsIn(read(path)).map((reason) => ({ reason, path })));
  assert.ok(given.length > 60, 'the reasons are found');
  const missing = given.filter(({ reason }) => !cures.includes(`\`${reason}\``));
  assert.deepEqual(missing, []);
});

/** Of refusals and ailments: what is waited for, or being done, is told by its own message. */
function reasonsIn(source: string): string[] {
  const called = source.matchAll(/\b(?:refuse|lasting|overdue|passing)\(\s*'([A-Z]\w+)'/g);
  const withCure = source.matchAll(/reason: '([A-Z]\w+)',(?:(?!reason:)[\s\S])*?\bcure\b/g);
  return [...called, ...withCure].map(([, reason = '']) => reason);
}

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
