import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { GitError } from '../../../gitops/error.ts';
import { readPackAnswer, wantInVersion0, wantInVersion2 } from '../../../gitops/wire/pack.ts';
import { assertBounded } from '../../../gitops/wire/pack-bounds.ts';
import { packets } from '../../../gitops/wire/pktline.ts';

const sha = 'a'.repeat(40);

test('both requests are well-formed and name the commit once', () => {
  for (const request of [wantInVersion0(sha), wantInVersion2(sha)]) {
    const wants = [...packets(request)].filter((packet) => packet.kind === 'data' && packet.data.includes(sha));
    assert.equal(wants.length, 1);
  }
});

test('a refusal is told in the server’s words, cleaned', () => {
  assert.deepEqual(readPackAnswer(framed('ERR upload-pack: not our ref \u001b[31mx\n')), {
    kind: 'refused',
    message: 'upload-pack: not our ref [31mx',
  });
  assert.deepEqual(readPackAnswer(framed('\u0003out of memory\n')), { kind: 'refused', message: 'out of memory' });
  assert.deepEqual(readPackAnswer(framed('NAK\n')), { kind: 'refused', message: 'the server sent no data' });
});

test('a pack is found in the side band, between progress and acknowledgements', () => {
  const pack = packOf(blob(Buffer.from('hello'), 5));
  const half = Math.floor(pack.length / 2);
  const body = Buffer.concat([
    framed('NAK\n'),
    framed('\u0002Counting\r'),
    framed(Buffer.concat([Buffer.from([1]), pack.subarray(0, half)])),
    framed(Buffer.concat([Buffer.from([1]), pack.subarray(half)])),
    Buffer.from('0000'),
  ]);
  assert.deepEqual(readPackAnswer(body), { kind: 'pack', pack });
});

test('a pack with any bit flipped is noticed', () => {
  const pack = packOf(blob(Buffer.from('hello'), 5));
  fc.assert(
    fc.property(fc.nat(pack.length * 8 - 1), (bit) => {
      const damaged = Buffer.from(pack);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => readPackAnswer(framed(Buffer.concat([Buffer.from([1]), damaged]))), { reason: 'BadAnswer' });
    }),
  );
});

test('a bomb is refused before anything unpacks it', () => {
  const zeros = blob(Buffer.alloc(4_000_000), 4_000_000);
  const bounds = { maxObjects: 10, maxObjectBytes: 1_000_000, maxTotalBytes: 10_000_000 };
  assert.throws(() => assertBounded(packOf(zeros), bounds), { reason: 'TooLarge', class: 'terminal' });
  assert.throws(() => assertBounded(packOf(zeros, zeros, zeros), { ...bounds, maxObjectBytes: 5_000_000 }), {
    reason: 'TooLarge',
  });
  assert.throws(
    () => assertBounded(packOf(...Array<Buffer>(11).fill(blob(Buffer.from('x'), 1))), bounds),
    /11 objects/,
  );
  assertBounded(packOf(blob(Buffer.from('x'), 1)), bounds);
});

test('an object that is larger than it says is damage', () => {
  assert.throws(() => assertBounded(packOf(blob(Buffer.alloc(4_000_000), 5))), { reason: 'BadAnswer' });
});

test('a small delta that makes a large object is refused', () => {
  const delta = Buffer.from([...size(1), ...size(2 ** 32), 0x01, 0x00]);
  assert.throws(
    () => assertBounded(packOf(blob(Buffer.from('x'), 1), entry(6, delta, delta.length, Buffer.from([1])))),
    { reason: 'TooLarge' },
  );
});

test('any bytes behind a pack’s head are damage, not an exception of another kind', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 30, maxLength: 100 }), (raw) => {
      const head = Buffer.from([...Buffer.from('PACK'), 0, 0, 0, 2, 0, 0, 0, 2]);
      try {
        assertBounded(Buffer.concat([head, Buffer.from(raw)]));
      } catch (error) {
        assert.ok(error instanceof GitError, String(error));
      }
    }),
  );
});

function framed(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data as string);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

function packOf(...entries: readonly Buffer[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(entries.length, 8);
  const content = Buffer.concat([head, ...entries]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

function blob(content: Buffer, announced: number): Buffer {
  return entry(3, content, announced);
}

function entry(type: number, content: Buffer, announced: number, base = Buffer.alloc(0)): Buffer {
  const head = [(type << 4) | (announced & 15)];
  for (let rest = Math.floor(announced / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
    head.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(content)]);
}

function size(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
  }
  return bytes;
}
