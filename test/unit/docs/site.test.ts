import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Entry, landing, pageOf, sidebarOf } from '../../../docs/.vitepress/contents.ts';
import { checkout, documents, read } from './pages.ts';

/** What CI's `npm run site` would find a minute later, and what it would not find. */

const sidebar = sidebarOf(read('docs/README.md'));
const leaves = (entry: Entry): readonly Entry[] => entry.items?.flatMap(leaves) ?? [entry];
const linked = sidebar.flatMap(leaves).map(({ link }) => link ?? '');
const pages = documents.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');

test('the sidebar has every page, in groups that fit on a screen', () => {
  // What it says is the first of the runbooks as well.
  assert.deepEqual([...new Set(linked)].toSorted(), pages.map((page) => pageOf(page.slice('docs/'.length))).toSorted());
  const groups = sidebar.flatMap((section) => section.items?.filter(({ items }) => items) ?? []);
  assert.ok(groups.length >= 5);
  assert.deepEqual(
    [...sidebar, ...groups].filter(({ items = [] }) => items.length > 20).map(({ text }) => text),
    [],
  );
});

test('what the landing page leads to is there', () => {
  const links = [...landing.hero.actions, ...landing.features].map(({ link }) => link);
  assert.deepEqual(
    links.filter((link) => !linked.includes(link) || !existsSync(join(checkout, 'docs', `${link}.md`))),
    [],
  );
});

test('no page has a tag that only the site would read, like a name in angle brackets', () => {
  assert.deepEqual(
    documents.flatMap((page) => tagsIn(read(page)).map((tag) => `${page}: ${tag}`)),
    [],
  );
  assert.deepEqual(tagsIn('`<a>` <https://x.example> <!-- note -->\n```text\n<b>\n```\n<name> is yours'), ['<name>']);
});

function tagsIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, '').replaceAll(/(`+)[^`][\s\S]*?\1/g, '');
  return [...prose.matchAll(/<(?!!--|https?:)[a-z/][^>\n]*>/gi)].map(([tag]) => tag);
}
