import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { main } from '../../../functions/read-log.ts';
import { crc32c } from '../../../reconcile/backup/agent/crc32c.ts';
import { readDiskLog } from '../../../reconcile/backup/agent/disk-log.ts';
import { type DiskLog, diskLogIn, LogUnreadable } from '../../../reconcile/jobs/disk-log.ts';
import { entry, type Line, message, metadata, snapshot, state, walFile } from './wal.ts';

/** An empty database but for its index: page 2 is the root, with an inline bucket. */
function database(index: bigint): Buffer {
  const bytes = Buffer.alloc(4096 * 3);
  for (const page of [0, 1]) {
    const at = page * 4096;
    bytes.writeUInt16LE(4, at + 8);
    bytes.writeUInt32LE(0xed0cdaed, at + 16);
    bytes.writeUInt32LE(2, at + 20);
    bytes.writeUInt32LE(4096, at + 24);
    bytes.writeBigUInt64LE(2n, at + 32);
  }
  const value = Buffer.alloc(8);
  value.writeBigUInt64BE(index);
  const inner = leaf('consistent_index', value, false);
  leaf('meta', Buffer.concat([Buffer.alloc(16), inner]), true).copy(bytes, 8192);
  return bytes;
}

function leaf(key: string, value: Buffer, isBucket: boolean): Buffer {
  const head = Buffer.alloc(32);
  head.writeUInt16LE(2, 8);
  head.writeUInt16LE(1, 10);
  head.writeUInt32LE(isBucket ? 1 : 0, 16);
  head.writeUInt32LE(16, 20);
  head.writeUInt32LE(key.length, 24);
  head.writeUInt32LE(value.length, 28);
  return Buffer.concat([head, Buffer.from(key), value]);
}

const owner = metadata(0xabcn, 0xdefn);
const db = database(41n);

interface Disk extends AsyncDisposable {
  readonly path: string;
  readonly read: () => Promise<DiskLog>;
}

async function diskOf(files: readonly Buffer[], snap: Buffer | undefined = db): Promise<Disk> {
  const path = await mkdtemp(join(tmpdir(), 'disk-log-'));
  await mkdir(join(path, 'member', 'wal'), { recursive: true });
  await mkdir(join(path, 'member', 'snap'));
  for (const [number, bytes] of files.entries()) await writeFile(join(path, 'member', 'wal', nameOf(number)), bytes);
  if (snap) await writeFile(join(path, 'member', 'snap', 'db'), snap);
  return {
    path,
    read: () => readDiskLog(path, AbortSignal.timeout(10_000)),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

const nameOf = (number: number) => `${String(number).padStart(16, '0')}-${'0'.repeat(16)}.wal`;

async function saidOf(...files: readonly Buffer[]): Promise<DiskLog> {
  await using disk = await diskOf(files);
  return await disk.read();
}

const one = (...lines: readonly Line[]) => walFile([owner, snapshot(0, 0), ...lines]).bytes;
const whole: DiskLog = {
  clusterId: 'def',
  memberId: 'abc',
  term: 3n,
  vote: 0xabcn,
  commit: 40n,
  lastTerm: 3n,
  lastIndex: 42n,
  consistentIndex: 41n,
};
const lines = [state(3, 0xabcn, 39), entry(2, 40, 700), entry(3, 41), state(3, 0xabcn, 40), entry(3, 42, 700)];

test('a checksum is that of Castagnoli, and goes on from another', () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  assert.equal(crc32c(Buffer.from('6789'), crc32c(Buffer.from('12345'))), 0xe3069283);
});

test('a log says whose it is, its state, its last entry, and the database how far it is', async () => {
  assert.deepEqual(await saidOf(one(...lines)), whole);
});

test('an entry takes the place of all that were written from its index on', async () => {
  const { lastIndex, lastTerm } = await saidOf(one(...lines, entry(4, 41)));
  assert.deepEqual({ lastIndex, lastTerm }, { lastIndex: 41n, lastTerm: 4n });
});

test('of several files the newest is read, and the one before it where that has no entry', async () => {
  const first = walFile([owner, snapshot(0, 0), ...lines]);
  const begun = walFile([owner, state(3, 0xabcn, 41)], { before: first.running });
  const grown = walFile([owner, state(3, 0xabcn, 41), entry(3, 43)], { before: first.running });
  assert.deepEqual(await saidOf(first.bytes, begun.bytes), { ...whole, commit: 41n });
  assert.deepEqual(await saidOf(Buffer.from('not read'), grown.bytes), { ...whole, commit: 41n, lastIndex: 43n });
});

test('a snapshot that a leader sent is the last entry once it is committed, and not before', async () => {
  const received = [...lines, snapshot(90, 5)];
  assert.equal((await saidOf(one(...received))).lastIndex, 42n);
  const { lastIndex, lastTerm } = await saidOf(one(...received, state(5, 0n, 90)));
  assert.deepEqual({ lastIndex, lastTerm }, { lastIndex: 90n, lastTerm: 5n });
  assert.equal((await saidOf(one(...received, state(5, 0n, 90), entry(5, 91)))).lastIndex, 91n);
});

test('wherever the last record is cut off, or its sectors never came, the log ends before it', async () => {
  const { bytes, ends, begins } = walFile([owner, snapshot(0, 0), ...lines], { zeros: 0 });
  const last = ends - (begins.at(-1) ?? 0);
  for (const cut of [last, last + 4, last + 8, last + 100, ends - 1]) {
    assert.equal((await saidOf(bytes.subarray(0, cut))).lastIndex, 41n, `cut at ${cut - last}`);
    const zeroed = Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(ends - cut + 4096)]);
    const isWhole = bytes.subarray(cut, ends).every((byte) => byte === 0);
    if (ends - cut >= 512 || cut === last)
      assert.equal((await saidOf(zeroed)).lastIndex, 41n, `zeros from ${cut - last}`);
    else assert.ok(isWhole || (await failureOf(zeroed)).includes('is damaged'));
  }
});

async function failureOf(...files: readonly Buffer[]): Promise<string> {
  try {
    await saidOf(...files);
  } catch (error) {
    if (error instanceof LogUnreadable) return error.message;
    throw error;
  }
  return '';
}

function changed(bytes: Buffer, at: number, to = (bytes[at] ?? 0) ^ 1): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = to;
  return copy;
}

test('what is no log of etcd is named with its file and place, and costs nothing', async () => {
  const sound = walFile([owner, snapshot(0, 0), ...lines]);
  assert.match(await failureOf(changed(sound.bytes, sound.ends - 20)), /^0{16}-0{16}\.wal, at byte \d+: .* damaged/);
  const torn = sound.bytes.subarray(0, sound.ends - 100);
  const begun = walFile([owner, state(3, 0n, 40)], { before: sound.running }).bytes;
  assert.match(await failureOf(torn, begun), /^0{16}-0{16}\.wal, at byte \d+: a record goes beyond its end/);
  const zeroed = Buffer.concat([sound.bytes.subarray(0, sound.ends - 650), Buffer.alloc(4096)]);
  assert.equal(await failureOf(zeroed), '', 'torn at its end');
  assert.match(await failureOf(zeroed, begun), /^0{16}-0{16}\.wal, at byte \d+: a record is damaged/);
  assert.match(await failureOf(Buffer.alloc(4096)), /does not say whose it is/);
  assert.match(await failureOf(Buffer.alloc(0)), /does not say whose it is/);
  assert.match(await failureOf(), /there is no log in/);
  assert.match(await failureOf(walFile([owner, { type: 2, data: Buffer.from([7]) }]).bytes), /none of etcd’s/);
  assert.match(await failureOf(one(...lines, state(3, 0n, 43))), /ends at entry 42, and says that 43 are committed$/);
  const many = { type: 2, data: message(...Array.from({ length: 65 }, () => 1)) };
  assert.match(await failureOf(walFile([owner, many]).bytes), /none of etcd’s/);
  const huge = Buffer.alloc(80 * 1024 * 1024);
  huge.writeBigUInt64LE(70n * 1024n * 1024n);
  assert.match(await failureOf(huge), /a record of 73400320 bytes is larger than etcd writes any/);
});

test('a log that ends before what its database has applied is refused', async () => {
  await using disk = await diskOf([one(...lines)], database(43n));
  await assert.rejects(disk.read(), /ends at entry 42, and its database has applied 43$/);
});

test('a link, and a database that is none, are not read', async () => {
  await using elsewhere = await diskOf([one(...lines)]);
  await using linked = await diskOf([]);
  await symlink(join(elsewhere.path, 'member', 'wal', nameOf(0)), join(linked.path, 'member', 'wal', nameOf(0)));
  await assert.rejects(linked.read(), { code: 'ELOOP' });
  await using empty = await diskOf([one(...lines)], Buffer.alloc(8192));
  await assert.rejects(empty.read(), /is no database of etcd/);
});

test('whatever is cut off or changed, a log is read to an end, or refused by name', async () => {
  const sound = one(...lines);
  const changes = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(sound.length), async (all, length) => {
      const bytes = Buffer.from(sound);
      for (const [index, byte] of all) bytes[index] = byte;
      await failureOf(bytes.subarray(0, length));
    }),
    { numRuns: 200 },
  );
});

test('the program of a Job says what it has read, or why it can’t', async () => {
  await using disk = await diskOf([one(...lines)]);
  const answer = join(disk.path, 'answer');
  assert.equal(await main([`--data=${disk.path}`], answer), 0);
  assert.deepEqual(diskLogIn(await readFile(answer, 'utf8')), whole);
  assert.equal(await main([`--data=${join(disk.path, 'elsewhere')}`], answer), 1);
  const { unreadable = '' } = diskLogIn(await readFile(answer, 'utf8')) as { unreadable?: string };
  assert.match(unreadable, /^there is no log in /);
  assert.equal(await main([], answer), 1);
});

test('an answer is believed only in its own form, since any program may have written it', () => {
  const numbers = { term: '1', vote: '2', commit: '3', lastTerm: '1', lastIndex: '18446744073709551615' };
  const log = { clusterId: 'ab', memberId: 'cd', ...numbers, consistentIndex: '3' };
  assert.ok(diskLogIn(JSON.stringify({ log })));
  for (const wrong of [
    { commit: 3 },
    { commit: '-1' },
    { commit: '1e3' },
    { lastIndex: '1'.repeat(21) },
    { memberId: 'x' },
  ])
    assert.equal(diskLogIn(JSON.stringify({ log: { ...log, ...wrong } })), undefined);
  for (const text of ['', 'null', '[]', '{"log":null}', '{"log":{}}']) assert.equal(diskLogIn(text), undefined);
  assert.deepEqual(diskLogIn('{"unreadable":"a\\u001b[2Jb\\u2028c"}'), { unreadable: 'a [2Jb c' });
});
