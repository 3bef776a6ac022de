import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { lastKeyIn, valueIn } from '../../../reconcile/backup/agent/bolt.ts';
import { dataVersionOf } from '../../../reconcile/backup/agent/staged-restore.ts';

/** Files that are laid out here by hand. Those that etcd wrote are read in test/integration/backup/data-version. */

const pageSize = 4096;
let directory = '';
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bolt-'));
});
after(() => rm(directory, { recursive: true }));

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(directory, 'db');
  await writeFile(path, bytes);
  return path;
}

interface Element {
  readonly key: string;
  readonly value: Buffer;
  readonly isBucket?: boolean;
}

function header(flags: number, count: number, overflow = 0): Buffer {
  const made = Buffer.alloc(16);
  made.writeUInt16LE(flags, 8);
  made.writeUInt16LE(count, 10);
  made.writeUInt32LE(overflow, 12);
  return made;
}

function leaf(elements: readonly Element[]): Buffer {
  const bodies = elements.map(({ key, value }) => Buffer.concat([Buffer.from(key), value]));
  let at = elements.length * 16;
  const table = elements.map(({ key, value, isBucket }, index) => {
    const made = Buffer.alloc(16);
    made.writeUInt32LE(isBucket ? 1 : 0, 0);
    made.writeUInt32LE(at - index * 16, 4);
    made.writeUInt32LE(key.length, 8);
    made.writeUInt32LE(value.length, 12);
    at += bodies[index]?.length ?? 0;
    return made;
  });
  return Buffer.concat([header(2, elements.length), ...table, ...bodies]);
}

function branch(children: readonly { readonly key: string; readonly page: number }[]): Buffer {
  let at = children.length * 16;
  const table = children.map(({ key, page }, index) => {
    const made = Buffer.alloc(16);
    made.writeUInt32LE(at - index * 16, 0);
    made.writeUInt32LE(key.length, 4);
    made.writeBigUInt64LE(BigInt(page), 8);
    at += key.length;
    return made;
  });
  return Buffer.concat([header(1, children.length), ...table, ...children.map(({ key }) => Buffer.from(key))]);
}

function meta(root: number, transaction: number, size = pageSize): Buffer {
  const made = Buffer.alloc(80);
  made.writeUInt16LE(4, 8);
  made.writeUInt32LE(0xed0cdaed, 16);
  made.writeUInt32LE(2, 20);
  made.writeUInt32LE(size, 24);
  made.writeBigUInt64LE(BigInt(root), 32);
  made.writeBigUInt64LE(BigInt(transaction), 64);
  return made;
}

function pages(...all: readonly Buffer[]): Buffer {
  return Buffer.concat(all.map((page) => Buffer.concat([page, Buffer.alloc(pageSize - page.length)])));
}

function inline(...elements: readonly Element[]): Buffer {
  return Buffer.concat([Buffer.alloc(16), leaf(elements)]);
}

function at(page: number): Buffer {
  const made = Buffer.alloc(16);
  made.writeBigUInt64LE(BigInt(page), 0);
  return made;
}

const says = (key: string, version: string): Element => ({ key, value: Buffer.from(version) });

test('the version of the data is found in a bucket of its own page, below branches, or inline', async () => {
  const cluster = leaf([says('clusterVersion', '3.5.0')]);
  const direct = pages(meta(2, 1), meta(2, 0), leaf([{ key: 'cluster', value: at(3), isBucket: true }]), cluster);
  assert.equal(await dataVersionOf(await fileOf(direct)), '3.5.0');
  const [first, second] = [
    leaf([says('a', 'x')]),
    leaf([{ key: 'meta', value: inline(says('storageVersion', '3.7.0')), isBucket: true }]),
  ];
  const root = branch([
    { key: 'a', page: 3 },
    { key: 'm', page: 4 },
  ]);
  assert.equal(await dataVersionOf(await fileOf(pages(meta(9, 1), meta(2, 2), root, first, second))), '3.7.0');
});

test('of the two first pages the later one counts, and the data say more than their cluster', async () => {
  const of = (version: string) =>
    leaf([{ key: 'meta', value: inline(says('storageVersion', version)), isBucket: true }]);
  const file = await fileOf(pages(meta(2, 8), meta(3, 7), of('3.6.0'), of('3.5.0')));
  assert.equal(await dataVersionOf(file), '3.6.0');
  const both = leaf([
    { key: 'cluster', value: inline(says('clusterVersion', '3.7.0')), isBucket: true },
    { key: 'meta', value: inline(says('storageVersion', '3.6.0')), isBucket: true },
  ]);
  assert.equal(await dataVersionOf(await fileOf(pages(meta(2, 1), meta(2, 0), both))), '3.6.0');
});

const bucketAt = (page: number) => {
  const value = Buffer.alloc(16);
  value.writeBigUInt64LE(BigInt(page), 0);
  return leaf([{ key: 'key', value, isBucket: true }]);
};
const keys = (...all: readonly string[]) => leaf(all.map((key) => ({ key, value: Buffer.from('v'.repeat(300)) })));
const inTwo = branch([
  { key: 'a', page: 4 },
  { key: 'c', page: 5 },
]);

for (const [what, expected, bytes] of [
  ['of one page', 'b', pages(meta(2, 1), meta(2, 0), bucketAt(3), keys('a', 'b'))],
  ['of several pages', 'd', pages(meta(2, 1), meta(2, 0), bucketAt(3), inTwo, keys('a', 'b'), keys('c', 'd'))],
  ['that is empty', undefined, pages(meta(2, 1), meta(2, 0), bucketAt(3), keys())],
  ['that leads in a circle', undefined, pages(meta(2, 1), meta(2, 0), bucketAt(3), branch([{ key: 'a', page: 3 }]))],
  ['beyond the end of the file', undefined, pages(meta(2, 1), meta(2, 0), bucketAt(2 ** 52))],
  ['that is not there', undefined, pages(meta(2, 1), meta(2, 0), keys('key'))],
] as const)
  test(`the last key of a bucket ${what} is ${expected ?? 'none'}`, async () => {
    assert.equal((await lastKeyIn(await fileOf(bytes), 'key'))?.toString(), expected);
  });

const sound = pages(
  meta(2, 1),
  meta(2, 0),
  branch([{ key: 'cluster', page: 3 }]),
  leaf([{ key: 'cluster', value: inline(says('clusterVersion', '3.6.0')), isBucket: true }]),
);

for (const [what, bytes] of [
  ['is empty', Buffer.alloc(0)],
  ['is text', Buffer.from('no database '.repeat(1000))],
  ['says a page size of nothing', pages(meta(2, 1, 0), meta(2, 0, 0))],
  ['says a page size of four GiB', pages(meta(2, 1, 0xffff_ffff), meta(2, 0))],
  ['begins beyond its end', pages(meta(2 ** 40, 1), meta(2 ** 40, 0))],
  ['leads in a circle', pages(meta(2, 1), meta(2, 0), branch([{ key: 'cluster', page: 2 }]))],
  ['says a page of many GiB', pages(meta(2, 1), meta(2, 0), header(2, 1, 0xffff_ffff))],
  ['says more elements than there are', pages(meta(2, 1), meta(2, 0), header(2, 0xffff))],
  [
    'has a version that is none',
    pages(
      meta(2, 1),
      meta(2, 0),
      leaf([{ key: 'cluster', value: inline(says('clusterVersion', '\u202e3.6')), isBucket: true }]),
    ),
  ],
  ['has a key in the place of a bucket', pages(meta(2, 1), meta(2, 0), leaf([says('cluster', 'x')]))],
] as const)
  test(`a file that ${what} does not say its version, and costs nothing`, async () => {
    assert.equal(await dataVersionOf(await fileOf(bytes)), undefined);
  });

test('whatever is cut off or changed, a file is read to an end, and never throws', async () => {
  const changes = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(sound.length), async (changed, length) => {
      const bytes = Buffer.from(sound);
      for (const [index, byte] of changed) bytes[index] = byte;
      const found = await valueIn(await fileOf(bytes.subarray(0, length)), 'cluster', 'clusterVersion');
      assert.ok(found === undefined || found.length <= pageSize);
    }),
    { numRuns: 300 },
  );
});
