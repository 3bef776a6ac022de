import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GitError } from '../../../gitops/git/error.ts';
import { packReader, readPackAnswer, wantInVersion0, wantInVersion2 } from '../../../gitops/git/wire/pack.ts';
import { defaultPackBounds, type PackBounds, packEntries } from '../../../gitops/git/wire/pack-entries.ts';
import { packets } from '../../../gitops/git/wire/pktline.ts';
import { distance, kinds, packEntry, packOf, size } from '../../support/git/pack.ts';

const sha = 'a'.repeat(40);

async function unpackAll(pack: Buffer, bounds?: Partial<PackBounds>): Promise<void> {
  for await (const _ of packEntries(pack, { ...defaultPackBounds, ...bounds }));
}

test('both requests are well-formed and name the commit once', () => {
  for (const request of [wantInVersion0(sha, { depth: 1 }, ['side-band-64k', 'shallow']), wantInVersion2(sha)]) {
    const wants = [...packets(request)].filter((packet) => packet.kind === 'data' && packet.data.includes(sha));
    assert.equal(wants.length, 1);
  }
});

test('a refusal is told without a word of the server’s', () => {
  assert.deepEqual(readPackAnswer(framed('ERR upload-pack: not our ref \u001b[31mx\n')), {
    kind: 'refused',
    message: 'the server refuses',
  });
  assert.deepEqual(readPackAnswer(framed('\u0003out of memory\n')), {
    kind: 'refused',
    message: 'the server refuses',
  });
  assert.deepEqual(readPackAnswer(framed('NAK\n')), { kind: 'refused', message: 'the server sent no data' });
});

test('a pack is found in the side band, between progress and acknowledgements', () => {
  const pack = packOf(blob(Buffer.from('hello')));
  const half = Math.floor(pack.length / 2);
  const body = Buffer.concat([
    framed('NAK\n'),
    framed('\u0002Counting\r'),
    framed(Buffer.concat([Buffer.from([1]), pack.subarray(0, half)])),
    framed(Buffer.concat([Buffer.from([1]), pack.subarray(half)])),
    Buffer.from('0000'),
  ]);
  assert.deepEqual(readPackAnswer(body), { kind: 'pack', pack, shallow: [], unshallow: [] });
});

test('a pack is the same into whatever pieces its answer is cut', () => {
  const pack = packOf(blob(Buffer.from('hello')), blob(Buffer.alloc(0)));
  const bytes = Buffer.concat([framed('NAK\n'), framed(Buffer.concat([Buffer.from([1]), pack])), Buffer.from('0000')]);
  for (let size = 1; size <= bytes.length; size++) {
    using reader = packReader();
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    assert.deepEqual(reader.end(), { kind: 'pack', pack, shallow: [], unshallow: [] }, `pieces of ${size} bytes`);
  }
});

test('what was read of an answer that is given up is let go of at once', () => {
  const held = () => process.memoryUsage().external / 1024 / 1024;
  const packet = framed(Buffer.alloc(60_000, 1));
  const before = held();
  {
    using reader = packReader();
    for (let n = 0; n < 700; n++) reader.push(packet);
    assert.ok(held() - before > 35, `${held() - before} MiB are held`);
  }
  assert.ok(held() - before < 5, `${held() - before} MiB stay`);
});

test('a pack with any bit flipped is noticed', () => {
  const pack = packOf(blob(Buffer.from('hello')));
  fc.assert(
    fc.property(fc.nat(pack.length * 8 - 1), (bit) => {
      const damaged = Buffer.from(pack);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => readPackAnswer(framed(Buffer.concat([Buffer.from([1]), damaged]))), { reason: 'BadAnswer' });
    }),
  );
});

test('a bomb is refused before anything unpacks it', async () => {
  const zeros = blob(Buffer.alloc(4_000_000));
  const bounds = { maxObjects: 10, maxObjectBytes: 1_000_000, maxTotalBytes: 10_000_000 };
  await assert.rejects(unpackAll(packOf(zeros), bounds), { reason: 'TooLarge', class: 'terminal' });
  await assert.rejects(unpackAll(packOf(zeros, zeros, zeros), { ...bounds, maxObjectBytes: 5_000_000 }), {
    reason: 'TooLarge',
  });
  await assert.rejects(unpackAll(packOf(...Array<Buffer>(11).fill(blob(Buffer.from('x')))), bounds), /11 objects/);
  await unpackAll(packOf(blob(Buffer.from('x'))), bounds);
});

test('an object that is larger than it says is damage', async () => {
  await assert.rejects(unpackAll(packOf(blob(Buffer.alloc(4_000_000), 5))), { reason: 'BadAnswer' });
});

function deltaThatMakes(bytes: readonly number[]): Buffer {
  return packEntry(kinds.ofsDelta, Buffer.from([...size(1), ...bytes, 0x01, 0x00]), { base: distance(10) });
}

test('a small delta that makes a large object is refused', async () => {
  const pack = packOf(blob(Buffer.from('x')), deltaThatMakes(size(2 ** 32)));
  await assert.rejects(unpackAll(pack), { reason: 'TooLarge' });
});

test('a size beyond any number is damage, and does not lift the bounds that follow', async () => {
  const endless = [...Array<number>(1100).fill(0x80), 0];
  await assert.rejects(unpackAll(packOf(blob(Buffer.from('x')), deltaThatMakes(endless))), { reason: 'BadAnswer' });
  const head = Buffer.from([0xb0, ...endless]);
  await assert.rejects(unpackAll(packOf(head)), { reason: 'BadAnswer' });
});

test('what a delta is stored as counts, too: it may be large and make little', async () => {
  const delta = Buffer.concat([Buffer.from([...size(1), ...size(1), 0x91, 0, 1]), Buffer.alloc(900_000)]);
  const deltas = Array.from({ length: 12 }, () => packEntry(kinds.ofsDelta, delta, { base: distance(10) }));
  const bounds = { maxObjects: 100, maxObjectBytes: 1_000_000, maxTotalBytes: 10_000_000 };
  await assert.rejects(unpackAll(packOf(blob(Buffer.from('x')), ...deltas), bounds), { reason: 'TooLarge' });
});

for (const [what, pack] of [
  ['of another version', Buffer.from(packOf(blob(Buffer.from('x')))).fill(9, 7, 8)],
  ['with bytes behind its last object', packOf(Buffer.concat([blob(Buffer.from('x')), Buffer.from('junk')]))],
  ['with fewer objects than it says', packOf(blob(Buffer.from('x'))).fill(2, 11, 12)],
  ['with an object of no type', packOf(packEntry(5, Buffer.from('x')))],
  ['that is its head alone', Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')],
] as const) {
  test(`a pack ${what} is damage`, async () => {
    await assert.rejects(unpackAll(pack), { name: 'GitError', reason: 'BadAnswer' });
  });
}

test('any bytes behind a pack’s head are damage, not an exception of another kind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 30, maxLength: 100 }), async (raw) => {
      const head = Buffer.from([...Buffer.from('PACK'), 0, 0, 0, 2, 0, 0, 0, 2]);
      try {
        await unpackAll(Buffer.concat([head, Buffer.from(raw)]));
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

function blob(content: Buffer, announced = content.length): Buffer {
  return packEntry(kinds.blob, content, { announced });
}
