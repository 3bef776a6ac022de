import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revision } from '../../../gitops/git/revision.ts';
import { openPacks, treeOf as openTree, type Tree } from '../../../gitops/git/tree.ts';
import { defaultBaseBounds } from '../../../gitops/git/wire/pack-bases.ts';
import { defaultPackBounds } from '../../../gitops/git/wire/pack-entries.ts';
import { nameObjects } from '../../../gitops/git/wire/pack-names.ts';
import {
  commitOf,
  distance,
  kinds,
  nameOf,
  packEntry,
  packOf,
  replacing,
  size,
  treeOf,
} from '../../support/git/pack.ts';

const a = Buffer.from('a file\n');
const b = Buffer.from('another file\n');
const c = Buffer.from('a third\n');

function blob(content: Buffer): Buffer {
  return packEntry(kinds.blob, content);
}

function onName(base: Buffer, result: Buffer): Buffer {
  return packEntry(kinds.refDelta, replacing(base, result), { base: nameOf('blob', base) });
}

function onPlace(back: number, base: Buffer, result: Buffer): Buffer {
  return packEntry(kinds.ofsDelta, replacing(base, result), { base: distance(back) });
}

async function namesOf(pack: Buffer): Promise<readonly string[]> {
  return (await nameObjects(pack)).objects.map(({ name }) => name).sort();
}

function namesOfBlobs(...contents: readonly Buffer[]): readonly string[] {
  return contents.map((content) => nameOf('blob', content).toString('hex')).sort();
}

for (const [what, entries] of [
  ['on a place', [blob(a), onPlace(blob(a).length, a, b)]],
  ['on a name', [blob(a), onName(a, b)]],
  ['on a name that comes later', [onName(a, b), blob(a)]],
] as const) {
  test(`a delta ${what} gets the name of what it makes`, async () => {
    assert.deepEqual(await namesOf(packOf(...entries)), namesOfBlobs(a, b));
  });
}

test('a chain of deltas is put together in whatever order it stands', async () => {
  assert.deepEqual(await namesOf(packOf(onName(b, c), onName(a, b), blob(a))), namesOfBlobs(a, b, c));
  const second = onName(b, c);
  assert.deepEqual(await namesOf(packOf(second, onPlace(second.length, c, a), blob(b))), namesOfBlobs(a, b, c));
});

test('an object that stands there twice is named once', async () => {
  const pack = packOf(blob(a), blob(a), onName(a, b), onName(a, b));
  assert.deepEqual(await namesOf(pack), namesOfBlobs(a, b));
});

test('objects that claim to be made of each other are read by what is whole', { timeout: 20_000 }, async () => {
  const folder = treeOf([
    ['100644', 'a', nameOf('blob', a)],
    ['100644', 'b', nameOf('blob', b)],
  ]);
  const commit = commitOf(nameOf('tree', folder));
  const rest = [packEntry(kinds.tree, folder), packEntry(kinds.commit, commit)];
  for (const files of [
    [blob(a), onName(a, b), onName(b, a)],
    [onName(b, a), onName(a, b), blob(a)],
  ]) {
    const sha = nameOf('commit', commit).toString('hex');
    const tree = await opened(packOf(...files, ...rest), { ref: 'main', sha });
    assert.deepEqual(Buffer.from(await tree.file(nameOf('blob', a).toString('hex'))), a);
    assert.deepEqual(Buffer.from(await tree.file(nameOf('blob', b).toString('hex'))), b);
  }
});

test('deltas as deep as git makes them are read, deeper ones are refused', { timeout: 60_000 }, async () => {
  const contents = Array.from({ length: 4_097 }, (_, n) => Buffer.from(`${n}`));
  const entries: Buffer[] = [];
  for (const [n, content] of contents.entries()) {
    const base = contents[n - 1];
    entries.push(base ? onPlace(entries[n - 1]?.length ?? 0, base, content) : blob(content));
  }
  assert.equal((await nameObjects(packOf(...entries.slice(0, -1)))).objects.length, 4_096);
  await assert.rejects(nameObjects(packOf(...entries)), { reason: 'BadAnswer', message: /more than 4095 deep/ });
});

test('bases are made again where keeping them would take too much, and not without end', async () => {
  // Each has two deltas, of which one has two again: when the first of them is gone into, all others wait.
  const entries = [blob(Buffer.from('0 '))];
  const contents = [Buffer.from('0 ')];
  let tip = contents[0] ?? Buffer.alloc(0);
  for (let n = 1; n <= 40; n++) {
    const next = Buffer.from(`${n} deeper`);
    const aside = Buffer.from(`${n} aside`);
    entries.push(onName(tip, aside), onName(tip, next), onName(tip, aside));
    contents.push(aside, next);
    tip = next;
  }
  const pack = packOf(...entries);
  const bounds = { ...defaultPackBounds, ...defaultBaseBounds };
  for (const maxKeptBytes of [0, 30, 1_000]) {
    const { objects: named } = await nameObjects(pack, { ...bounds, maxKeptBytes });
    assert.deepEqual(named.map(({ name }) => name).sort(), namesOfBlobs(...contents));
  }
  await assert.rejects(nameObjects(pack, { ...bounds, maxKeptBytes: 0, maxMadeAgain: 30_000 }), { reason: 'TooLarge' });
  assert.equal((await nameObjects(pack, { ...bounds, maxMadeAgain: 0 })).objects.length, contents.length);
});

test('a file that is too large to be held is named, and what is made of it is left out', async () => {
  const bounds = { ...defaultPackBounds, ...defaultBaseBounds, maxHeldBytes: 1_000 };
  const large = Buffer.alloc(5_000, 'x');
  const named = async (...entries: readonly Buffer[]) => {
    const { objects, leavesOut } = await nameObjects(packOf(...entries), bounds);
    return {
      names: objects.map(({ name }) => name).sort(),
      large: objects.filter((one) => one.isLarge).length,
      leavesOut,
    };
  };
  const names = (...contents: readonly Buffer[]) => namesOfBlobs(...contents);
  assert.deepEqual(await named(blob(a), blob(large), blob(b)), {
    names: names(a, large, b),
    large: 1,
    leavesOut: false,
  });
  const ofLarge = [blob(large), onPlace(blob(large).length, large, b), onName(large, c), blob(a)];
  assert.deepEqual(await named(...ofLarge), { names: names(a, large), large: 1, leavesOut: true });
  const grows = Buffer.from([...size(a.length), ...size(5_000), 0x91, 0, 1]);
  const delta = packEntry(kinds.refDelta, grows, { base: nameOf('blob', a) });
  assert.deepEqual(await named(blob(a), delta), { names: names(a), large: 0, leavesOut: true });
  assert.deepEqual(await named(blob(a), onName(a, large)), { names: names(a), large: 0, leavesOut: true });
  await assert.rejects(nameObjects(packOf(packEntry(kinds.tree, large)), bounds), { reason: 'TooLarge' });
});

for (const [what, claimed] of [
  ['less', 4_999],
  ['more', 5_001],
] as const)
  test(`a file that is too large to be held, and has ${what} than it says, is damage`, async () => {
    const bounds = { ...defaultPackBounds, ...defaultBaseBounds, maxHeldBytes: 1_000 };
    const entry = packEntry(kinds.blob, Buffer.alloc(claimed, 'x'), { announced: 5_000 });
    await assert.rejects(nameObjects(packOf(entry), bounds), { reason: 'BadAnswer' });
  });

test('of a file that is too large to be read is told that it is', async () => {
  const zeros = Buffer.alloc(17 * 1024 * 1024);
  const folder = treeOf([
    ['100644', 'a', nameOf('blob', a)],
    ['100644', 'zeros', nameOf('blob', zeros)],
  ]);
  const commit = commitOf(nameOf('tree', folder));
  const entries = [blob(a), blob(zeros), packEntry(kinds.tree, folder), packEntry(kinds.commit, commit)];
  const tree = await opened(packOf(...entries), { ref: 'main', sha: nameOf('commit', commit).toString('hex') });
  assert.deepEqual(Buffer.from(await tree.file(nameOf('blob', a).toString('hex'))), a);
  const tooLarge = { name: 'GitError', reason: 'TooLarge', message: /is too large to be read/ };
  await assert.rejects(tree.file(nameOf('blob', zeros).toString('hex')), tooLarge);
});

for (const [what, entries, message] of [
  ['whose base is left out', [blob(a), onName(b, c)], /are missing/],
  ['of each other', [onName(b, a), onName(a, b)], /are missing/],
  ['of itself', [blob(a), packEntry(kinds.ofsDelta, replacing(a, b), { base: distance(0) })], /are missing/],
  ['of what begins before the pack', [blob(a), onPlace(1_000, a, b)], /are missing/],
  ['of the middle of an entry', [blob(a), onPlace(blob(a).length - 1, a, b)], /are missing/],
  ['of a base of another size', [blob(a), changed([...size(a.length + 1), ...size(1), 1, 0x78])], /damaged/],
  ['that takes more than its base has', [blob(a), changed([...size(a.length), ...size(9), 0x90, 9])], /damaged/],
  ['that makes less than it says', [blob(a), changed([...size(a.length), ...size(9), 1, 0x78])], /damaged/],
  ['that makes more than it says', [blob(a), changed([...size(a.length), ...size(1), 2, 0x78, 0x78])], /damaged/],
  ['with an instruction that means nothing', [blob(a), changed([...size(a.length), ...size(0), 0])], /damaged/],
  ['that ends in the middle', [blob(a), changed([...size(a.length), ...size(9), 9, 0x78])], /damaged/],
  ['without anything', [blob(a), changed([])], /damaged/],
] as const) {
  test(`a pack with a delta ${what} is refused`, async () => {
    await assert.rejects(nameObjects(packOf(...entries)), { name: 'GitError', reason: 'BadAnswer', message });
  });
}

function changed(delta: readonly number[]): Buffer {
  return packEntry(kinds.refDelta, Buffer.from(delta), { base: nameOf('blob', a) });
}

async function opened(pack: Buffer, revision: Revision): Promise<Tree> {
  return openTree(await openPacks([pack], revision), revision);
}

test('a small pack waits for no large one of another repository', async () => {
  const large = Buffer.alloc(24 * 1024 * 1024);
  const hostile = packOf(...Array(9).fill(blob(large)));
  const done: string[] = [];
  const name = async (what: string, pack: Buffer) => {
    const named = await nameObjects(pack);
    done.push(what);
    return named.objects.map((one) => one.name);
  };
  const [first] = await Promise.all([
    name('large', hostile),
    name('large, too', hostile),
    name('small', packOf(blob(a))),
  ]);
  assert.deepEqual(first, namesOfBlobs(large));
  assert.equal(done[0], 'small');
});
