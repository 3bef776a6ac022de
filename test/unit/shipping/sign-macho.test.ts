import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedPages, signAdHoc } from '../../../functions/shipping/sign-macho.ts';

/** An executable with nothing in it but the two segments that a signature is about. */
function executable({ room = 16, tail = 0 } = {}): Buffer {
  const segments = [
    { name: '__TEXT', offset: 0, size: 0x4000 },
    { name: '__LINKEDIT', offset: 0x4000, size: 0x1234 },
  ];
  const file = Buffer.alloc(0x5234 + tail, 0);
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(segments.length, 16);
  file.writeUInt32LE(72 * segments.length, 20);
  for (const [i, { name, offset, size }] of segments.entries()) {
    const at = 32 + 72 * i;
    file.writeUInt32LE(0x19, at);
    file.writeUInt32LE(72, at + 4);
    file.write(name, at + 8);
    file.writeBigUInt64LE(BigInt(offset), at + 40);
    file.writeBigUInt64LE(BigInt(size), at + 48);
  }
  file.fill(0xab, 32 + 72 * segments.length + room);
  return file;
}

test('a signature is of every page, and a byte that changes afterwards is seen', () => {
  const signed = signAdHoc(executable(), 'x');
  assert.deepEqual(changedPages(signed), []);
  for (const at of [0x100, 0x3fff, 0x5000]) {
    const other = Buffer.from(signed);
    other[at] = (other[at] ?? 0) ^ 1;
    assert.deepEqual(changedPages(other), [at >> 12]);
  }
});

test('the signature is what the load command says, at the end, inside of __LINKEDIT', () => {
  const signed = signAdHoc(executable(), 'x');
  const [command, size, offset, length] = [0, 4, 8, 12].map((field) => signed.readUInt32LE(32 + 2 * 72 + field));
  assert.deepEqual([command, size, offset], [0x1d, 16, 0x5240]);
  assert.equal(0x5240 + (length ?? 0), signed.length);
  assert.equal(signed.readUInt32LE(16), 3);
  assert.equal(signed.readUInt32LE(20), 2 * 72 + 16);
  assert.equal(Number(signed.readBigUInt64LE(32 + 72 + 48)) + 0x4000, signed.length);
  assert.equal(signed.readBigUInt64LE(32 + 72 + 32) % 0x4000n, 0n);
});

test('the same executable gets the same signature', () => {
  assert.deepEqual(signAdHoc(executable(), 'x'), signAdHoc(executable(), 'x'));
});

for (const [what, file, says] of [
  ['no executable of macOS', Buffer.from('\x7fELF'.padEnd(64, '\0')), /no 64-bit executable of macOS/],
  ['a file of three bytes', Buffer.alloc(3), /no 64-bit executable of macOS/],
  ['no room', executable({ room: 8 }), /no room for the load command/],
  ['something behind __LINKEDIT', executable({ tail: 8 }), /not the end of the executable/],
  ['a signature', signAdHoc(executable(), 'x'), /signed already/],
] as const)
  test(`an executable with ${what} is not signed`, () => {
    assert.throws(() => signAdHoc(file, 'x'), says);
  });

test('without a signature nothing is compared', () => {
  assert.throws(() => changedPages(executable()), /is not signed/);
});
