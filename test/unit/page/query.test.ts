import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterState } from '../../../functions/page/state.ts';
import { cluster, clusters, fleets } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';
import { textOf } from '../../support/page/words.ts';

const scene = pages({ fleets, clusters });
const read = async (path: string) => (await scene.get(path)).text();

/** The clusters in the tables of a page. */
function rowsOf(body: string): readonly string[] {
  return [...body.matchAll(/<th scope="row"[^>]*><a href="[^"]*clusters\/([^"]+)"/g)].map(([, key = '']) => key);
}

test('each state that clusters are in has a chip with its word, and leads to those clusters', async () => {
  const home = await read('/');
  const chips = [...home.matchAll(/<a class="(?:bad|busy|calm|good)" href="(\?state=(\w+))"><b>(\d+)<\/b> (\w+)</g)];
  const words = new Map<string, number>();
  for (const { word } of clusters.map(clusterState)) words.set(word, (words.get(word) ?? 0) + 1);
  assert.deepEqual(new Map(chips.map(([, , , count, word = '']) => [word, Number(count)])), words);
  for (const [, href = '', state] of chips) {
    const filtered = await read(`/${href}`);
    const expected = clusters.filter((one) => clusterState(one).word === state).map((one) => one.metadata.name);
    assert.deepEqual(
      rowsOf(filtered)
        .map((key) => key.split('/')[1])
        .toSorted(),
      expected.toSorted(),
    );
  }
});

test('the chosen chip says so, and leads back to all', async () => {
  const body = await read('/?state=Stalled');
  assert.match(body, /<a class="bad" href="\?" aria-current="true"><b>1<\/b> Stalled/);
  assert.doesNotMatch(body, /aria-label="Fleet etcd-ratchet\/staging"/);
  assert.deepEqual(
    [...body.matchAll(/<strong>(\w+)<\/strong>/g)].map(([, reason]) => reason),
    ['QuorumLost'],
  );
  assert.match(body, /<title>\(2\) /);
  assert.equal(rowsOf(await read('/?')).length, clusters.length);
});

test('the page of a fleet filters its own clusters, and keeps that on the next page', async () => {
  const fleet = '/fleets/etcd-ratchet/production';
  assert.deepEqual(rowsOf(await read(`${fleet}?state=Ready`)), ['payments/ledger', 'web/feature-flags']);
  const many = pages({ clusters: Array.from({ length: 450 }, (_, n) => cluster(`lab/c${n}`)) });
  const second = await (await many.get('/?state=Ready&page=2&refresh=30')).text();
  assert.match(second, /<a href="\?state=Ready&amp;page=3&amp;refresh=30" rel="next">/);
});

test('a state that no cluster is in any more shows none, and the way back', async () => {
  const body = await read('/fleets/etcd-ratchet/staging?state=Stalled');
  assert.deepEqual(rowsOf(body), []);
  assert.match(textOf(body), /0 Stalled/);
  assert.match(body, /href="\?" aria-current="true"/);
});

test('whatever an address asks for that is no state or page is as if it was not asked', async () => {
  const plain = await read('/');
  for (const query of ['?state=%3Cscript%3E', '?state=', '?page=-1', '?page=1e9', `?state=${'x'.repeat(70)}`, '?a=b'])
    assert.equal(await read(`/${query}`), plain, query);
});

test('a page refreshes by itself only where that is asked for, and can be stopped', async () => {
  for (const path of ['/', '/fleets/etcd-ratchet/production', '/clusters/payments/orders']) {
    const plain = await read(path);
    assert.doesNotMatch(plain, /http-equiv/);
    assert.match(plain, /<a href="\?">Refresh<\/a> · <a href="\?refresh=30">Refresh every 30\u00a0s<\/a>/);
    const again = await read(`${path}?refresh=30`);
    assert.match(again, /<meta http-equiv="refresh" content="30">/);
    assert.match(again, /It refreshes every 30 s: <a href="\?">Stop<\/a>/);
  }
  assert.match(await read('/?state=Ready&refresh=30'), /<a href="\?state=Ready">Stop<\/a>/);
});
