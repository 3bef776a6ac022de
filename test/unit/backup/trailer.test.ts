import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkedTrailer, type SoundSnapshot } from '../../../reconcile/backup/agent/trailer.ts';
import { BackupFailure, type FailureReason } from '../../../reconcile/jobs/failure.ts';

function snapshotOf(pages: number): Buffer {
  const body = randomBytes(pages * 512);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

/** As a store may give them: a piece holds until the next one is asked for. */
async function* inPieces(bytes: Buffer, sizes: readonly number[]) {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    const piece = Buffer.from(bytes.subarray(at, at + size));
    yield piece;
    piece.fill(0);
    at += size;
  }
}

async function passed(bytes: Buffer, sizes: readonly number[]) {
  let found: SoundSnapshot | undefined;
  const out: Uint8Array[] = [];
  let failure: FailureReason | undefined;
  try {
    for await (const chunk of checkedTrailer(inPieces(bytes, sizes), (sound) => {
      found = sound;
    })) {
      out.push(Buffer.from(chunk));
    }
  } catch (error) {
    assert.ok(error instanceof BackupFailure, String(error));
    failure = error.reason;
  }
  return { found, failure, out: Buffer.concat(out) };
}

test('a sound snapshot passes as it is, in whatever pieces it comes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 }),
      async (pages, sizes) => {
        const bytes = snapshotOf(pages);
        const { found, failure, out } = await passed(bytes, sizes);
        assert.equal(failure, undefined);
        assert.deepEqual(found, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
        assert.ok(out.equals(bytes));
      },
    ),
  );
});

test('one flipped bit anywhere is caught before the end is passed on', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(4 * 512 + 31), fc.nat(7), fc.integer({ min: 1, max: 700 }), async (at, bit, size) => {
      const bytes = snapshotOf(4);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      const { found, failure, out } = await passed(bytes, [size]);
      assert.deepEqual([found, failure], [undefined, 'WrongDigest']);
      assert.ok(out.length < bytes.length);
    }),
  );
});

test('a snapshot that was cut off anywhere is caught before its end is passed on', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(4 * 512 + 31), fc.integer({ min: 1, max: 700 }), async (length, size) => {
      const { found, failure, out } = await passed(snapshotOf(4).subarray(0, length), [size]);
      const whole = length % 512 === 32 && length > 32;
      const expected = length === 0 ? 'NotASnapshot' : whole ? 'WrongDigest' : 'BadTrailer';
      assert.deepEqual([found, failure], [undefined, expected]);
      assert.ok(out.length < length || length === 0);
    }),
  );
});

test('a file that is a trailer alone is no snapshot', async () => {
  const { failure } = await passed(createHash('sha256').digest(), [32]);
  assert.equal(failure, 'BadTrailer');
});
