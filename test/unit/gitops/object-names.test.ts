import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { openPacks } from '../../../gitops/git/tree.ts';
import { indexPack } from '../../../gitops/git/wire/pack-index.ts';
import { commitOf, kinds, nameOf, packEntry, packOf, treeOf } from '../../support/git/pack.ts';

const revision = { ref: 'main', sha: 'a'.repeat(40) };

/** A file, its folder and a commit. The file begins at the same place in each such pack. */
function packWith(letter: string) {
  const blob = Buffer.from(letter);
  const tree = treeOf([['100644', 'a.yaml', nameOf('blob', blob)]]);
  const commit = commitOf(nameOf('tree', tree));
  const parts = [
    ['blob', blob],
    ['tree', tree],
    ['commit', commit],
  ] as const;
  const names = parts.map(([type, bytes]) => nameOf(type, bytes).toString('hex'));
  return { pack: packOf(...parts.map(([type, bytes]) => packEntry(kinds[type], bytes))), names };
}

test('an object counts only under the name that its bytes have, whatever the index says', async () => {
  const [one, other] = ['a', 'b'].map(packWith);
  assert.ok(one && other);
  const [blob = '', tree = '', commit = ''] = one.names;
  const indexed = await indexPack(one.pack);
  const whole = await openPacks([], revision, undefined, [indexed]);
  assert.equal(Buffer.from(await whole.file(blob)).toString(), 'a');
  assert.equal((await whole.folder(tree)).length, 1);
  assert.equal((await whole.raw(commit))?.type, 'commit');

  // Its sums fit, as those of an index that our own reader made.
  const content = Buffer.concat([indexed.index.subarray(0, -40), other.pack.subarray(-20)]);
  const index = Buffer.concat([content, createHash('sha1').update(content).digest()]);
  const swapped = { ...(await indexPack(other.pack)), index };
  const objects = await openPacks([], revision, undefined, [swapped]);
  for (const read of [() => objects.file(blob), () => objects.folder(tree), () => objects.raw(commit)])
    await assert.rejects(read(), { reason: 'BadAnswer' });
});
