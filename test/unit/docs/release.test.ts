import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsAt } from '../../support/docs/places.ts';
import { read } from './pages.ts';

/** The step that a maintainer types; test/integration/manifests/release-twice makes both and types its `diff`. */
test('a release is made twice by two commands that differ in where they write, and compared', () => {
  const [{ text } = assert.fail('no command')] = commandsAt('docs/releases/README.md#make-a-release:1');
  const [one = '', other = '', compare = ''] = text.split('\n');
  const [, first = ''] = /^npm run release -- --outdir (\S+) --image \S+ --base \S+ --url \S+$/.exec(one) ?? [];
  const [, second = ''] = /--outdir (\S+)/.exec(other) ?? [];
  assert.notEqual(first, '');
  assert.notEqual(first, second);
  assert.equal(other, one.replace(first, second));
  assert.equal(compare, `diff ${first}/SHA256SUMS ${second}/SHA256SUMS`);
});

test('that the image of CI has another digest is said where releases are compared', () => {
  const [, page = ''] = read('docs/releases/README.md').split('## Make a release\n');
  assert.match(page, /image that CI publishes is another build[^.]*: it has another digest/);
});
