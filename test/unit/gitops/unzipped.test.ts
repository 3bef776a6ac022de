import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { unzipped } from '../../../gitops/git/unzipped.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return Buffer.concat(found);
}

const size = fc.integer({ min: 1, max: 50 });

test('any bytes come out as they were, zipped or not, into whatever pieces they are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), size, async (bytes, every) => {
      const plain = Buffer.from(bytes);
      assert.ok((await all(unzipped(pieces(gzipSync(plain), every)))).equals(plain));
      if (plain[0] !== 0x1f || plain[1] !== 0x8b) assert.ok((await all(unzipped(pieces(plain, every)))).equals(plain));
    }),
  );
});

for (const [what, change] of [
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 9)],
  ['damaged', (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 12 ? byte ^ 0xff : byte)))],
] as const) {
  test(`a zipped answer that is ${what} is a BadAnswer`, async () => {
    const zipped = change(gzipSync('some words of an answer'));
    await assert.rejects(all(unzipped(pieces(zipped, 7))), { reason: 'BadAnswer' });
  });
}

test('an error of the connection stays what it is', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield gzipSync('some words').subarray(0, 12);
    throw new Error('reset');
  }
  await assert.rejects(all(unzipped(broken())), { message: 'reset' });
});
