import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formOnly, shownOnly } from '../../support/docs/form-only.ts';
import { tutorials } from '../../support/docs/pages.ts';
import { commandsAt } from '../../support/docs/places.ts';
import { allBlocks, at, typedBlocks } from '../../support/docs/typed-blocks.ts';
import { typedBy, typedIn } from '../../support/docs/typed-by.ts';
import { checkout, read } from './pages.ts';

/** Every fenced block of the documentation, and the test that runs it, or why none does. */

const ofKind = (wanted: string) => allBlocks.filter(({ kind }) => kind === wanted);

const unTyped = formOnly.flatMap(({ places }) => places.flatMap(commandsAt)).map(at);

test('each block of commands is typed by a test, or the list says why none types it', () => {
  const known = new Set([...typedBlocks, ...unTyped]);
  assert.ok(typedBlocks.size > 100);
  assert.deepEqual(
    ofKind('sh')
      .map(at)
      .filter((place) => !known.has(place)),
    [],
  );
});

test('no block that the list gives a reason for is typed, and none has two reasons', () => {
  assert.deepEqual(
    unTyped.filter((place) => typedBlocks.has(place)),
    [],
  );
  assert.deepEqual(
    unTyped.filter((place, index) => unTyped.indexOf(place) !== index),
    [],
  );
});

describe('a test that types commands', () => {
  for (const name of Object.keys(typedBy) as (keyof typeof typedBy)[])
    test(`${name} takes each of its blocks from the list`, () => {
      const source = read(`test/${name.endsWith('.ts') ? name : `${name}.test.ts`}`);
      if (source.includes(`pagesOf('${name}')`)) return;
      assert.ok(source.includes(`typedIn('${name}')`), name);
      for (const place of typedBy[name]) {
        const [page = '', anchor] = place.split('#');
        assert.ok(source.includes(anchor ?? page), `${name} does not take ${place}`);
      }
    });

  test('can take no block that the list does not say', () => {
    assert.throws(() => typedIn('e2e/tls-provided')('docs/how-to/webhooks.md'), /webhooks\.md is not in typed-by\.ts/);
  });

  for (const place of ['docs/how-to/tls.md#nothing', 'docs/how-to/tls.md:9', '#managed', ''])
    test(`finds no block at "${place}", and says so`, () => {
      assert.throws(() => commandsAt(place), { message: `${place} has no block of commands` });
    });
});

test('each block of text is compared with what is printed, or the list says what it is', () => {
  const compared = new Set([...tutorials, 'README.md', 'docs/how-to/migrate.md']);
  const pages = new Set(ofKind('text').map(({ page }) => page));
  assert.deepEqual(
    [...pages].filter((page) => !compared.has(page) && !(page in shownOnly)),
    [],
  );
  assert.deepEqual(
    Object.keys(shownOnly).filter((page) => !pages.has(page) || compared.has(page)),
    [],
  );
});

test('each test that a reason names is there', () => {
  const reasons = [...formOnly.map(({ why }) => why), ...Object.values(shownOnly)];
  const named = reasons.flatMap((why) => [...why.matchAll(/\btest\/[\w/.-]+/g)].map(([path]) => path));
  for (const path of named) assert.ok(existsSync(join(checkout, /\.ts$/.test(path) ? path : `${path}.test.ts`)), path);
});
