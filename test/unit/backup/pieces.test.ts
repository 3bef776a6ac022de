/** Files that are read in pieces, and what takes more than one piece at a time. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { decoded } from '../../../reconcile/backup/agent/encoding.ts';
import { pieceSize, readPieces } from '../../../reconcile/backup/agent/files.ts';
import { kept } from '../../../reconcile/backup/agent/kept.ts';

const directory = await mkdtemp(join(tmpdir(), 'ratchet-pieces-'));
after(() => rm(directory, { recursive: true }));
const signal = new AbortController().signal;

async function fileOf(bytes: Buffer): Promise<string> {
  const path = join(directory, randomBytes(4).toString('hex'));
  await writeFile(path, bytes);
  return path;
}

for (const [what, bytes] of Object.entries({
  nothing: 0,
  'one byte': 1,
  'a whole piece': pieceSize,
  'nine pieces and a bit': 9 * pieceSize + 7,
}))
  test(`a file of ${what} is read as it is, into two buffers at most`, async () => {
    const written = randomBytes(bytes);
    const buffers = new Set<ArrayBufferLike>();
    const read: Buffer[] = [];
    for await (const piece of readPieces(await fileOf(written), signal)) {
      buffers.add(piece.buffer);
      read.push(Buffer.from(piece));
    }
    assert.ok(Buffer.concat(read).equals(written));
    assert.ok(buffers.size <= 2, `${buffers.size} buffers`);
  });

test('a file that is left early, or whose reader is told to stop, is closed', async () => {
  const path = await fileOf(randomBytes(4 * pieceSize));
  for await (const piece of readPieces(path, signal)) {
    assert.equal(piece.length, pieceSize);
    break;
  }
  const stop = new AbortController();
  const reading = readPieces(path, stop.signal);
  await reading.next();
  stop.abort(new Error('enough'));
  await assert.rejects(reading.next(), /enough/);
  assert.deepEqual(await reading.next(), { done: true, value: undefined });
});

for (const [how, packed] of Object.entries({ gzip: gzipSync, zstd: zstdCompressSync }))
  test(`an archive of ${how} is unpacked right, though its pieces are overwritten as it is read`, async () => {
    const inside = randomBytes(5 * pieceSize);
    const read: Buffer[] = [];
    for await (const chunk of decoded(readPieces(await fileOf(packed(inside)), signal), undefined))
      read.push(Buffer.from(chunk));
    assert.ok(Buffer.concat(read).equals(inside));
  });

test('what a source throws is told as it is, and its stream does not end as if it were whole', async () => {
  const error = new Error('the disk is gone');
  async function* source() {
    yield Buffer.from('a');
    throw error;
  }
  const told: unknown[] = [];
  await assert.rejects(Array.fromAsync(kept(source(), (one) => told.push(one))), error);
  assert.deepEqual(told, [error]);
});
