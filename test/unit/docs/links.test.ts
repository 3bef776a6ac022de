import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Meaning } from '../../../reconcile/reasons/meaning.ts';
import { meanings } from '../../../reconcile/reasons/reasons.ts';
import { anchorsOf, checkout, documents, read, target } from './pages.ts';

const longest = { 'README.md': 150, 'ARCHITECTURE.md': 260 };

test('the documents are found', () => {
  for (const known of ['README.md', 'ARCHITECTURE.md', 'docs/README.md', 'docs/reference/reasons.md']) {
    assert.ok(documents.includes(known), known);
  }
});

for (const document of documents) {
  test(`every relative link in ${document} leads to a file and to a heading that exist`, () => {
    const links = [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    assert.deepEqual(links.map((link) => deadLink(document, link)).filter(Boolean), []);
  });
}

for (const [document, most] of Object.entries(longest)) {
  test(`${document} has at most ${most} lines: what is longer is a page in docs`, () => {
    const lines = read(document).trimEnd().split('\n').length;
    assert.ok(lines <= most, `${document} has ${lines} lines`);
  });
}

test('every page in docs can be reached from its index', () => {
  const index = 'docs/README.md';
  const linked = [...read(index).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => target(index, link).file);
  const pages = documents.filter((document) => document.startsWith('docs/') && document !== index);
  assert.deepEqual(
    pages.filter((page) => !linked.includes(page)),
    [],
  );
});

describe('the cures of reasons', () => {
  test('what needs a person leads to a runbook or a page of instructions', () => {
    const alone = Object.entries<Meaning>(meanings).filter(
      ([, { cure }]) => !byItself(cure) && !/\]\(docs\/(runbooks|how-to)\//.test(cure),
    );
    assert.deepEqual(
      alone.map(([word]) => word),
      [],
    );
    assert.ok(!byItself('nothing, while it is not Stalled; then correct it'));
    assert.ok(!byItself('correct it'));
  });

  test('a runbook names each reason that leads to it and needs a person', () => {
    const silent = Object.entries<Meaning>(meanings).filter(([word, { cure }]) => {
      const [, page] = /\]\((docs\/runbooks\/[^)#]+)/.exec(cure) ?? [];
      return page !== undefined && !cure.startsWith('nothing') && !names(read(page), word);
    });
    assert.deepEqual(
      silent.map(([word]) => word),
      [],
    );
  });

  for (const [word, { cure }] of Object.entries<Meaning>(meanings)) {
    const links = [...cure.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    if (links.length === 0) continue;
    test(`the cure of ${word} leads to a page that exists`, () => {
      assert.deepEqual(links.map((link) => deadLink('README.md', link)).filter(Boolean), []);
    });
  }
});

test('a link to a missing page, or to a missing heading, is found', () => {
  assert.equal(deadLink('README.md', 'docs/nothing.md'), 'README.md: docs/nothing.md: no such file');
  assert.equal(deadLink('docs/README.md', '../README.md#no-such'), 'docs/README.md: ../README.md#no-such: no heading');
  assert.equal(deadLink('docs/README.md', '../ARCHITECTURE.md#words'), undefined);
  assert.deepEqual(anchorsOf('# A b\n```\n# no heading\n```\n## `c_d`, e'), ['a-b', 'c_d-e']);
});

/** A defect of a Secret has one name as a condition, and another, with `Certificate` before it, as a step. */
function names(page: string, word: string): boolean {
  return [word, word.replace(/^Certificate/, '')].some((name) => page.includes(`\`${name}\``));
}

/** Nothing is to be done, whatever happens next. */
function byItself(cure: string): boolean {
  return cure.startsWith('nothing') && !/Stalled|if it lasts|unless|\belse\b/i.test(cure);
}

function deadLink(document: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const { file, heading } = target(document, link);
  if (!existsSync(join(checkout, file))) return `${document}: ${link}: no such file`;
  if (heading === undefined || anchorsOf(read(file)).includes(heading)) return undefined;
  return `${document}: ${link}: no heading`;
}
