import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { hasAtMostFields } from '../../../reconcile/clients/etcd-answer-bounds.ts';

const { Writer } = protobuf;

/** One field each: a varint, a text, four and eight bytes. */
const fields: readonly ((writer: protobuf.Writer, value: number) => unknown)[] = [
  (writer, value) => writer.uint32((1 << 3) | 0).uint64(value),
  (writer, value) => writer.uint32((2 << 3) | 2).string('x'.repeat(value % 300)),
  (writer, value) => writer.uint32((3 << 3) | 5).fixed32(value),
  (writer, value) => writer.uint32((4 << 3) | 1).double(value),
];

test('fields are counted, whatever is in them', () => {
  const kinds = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat()), { maxLength: 30 });
  fc.assert(
    fc.property(kinds, (some) => {
      const writer = Writer.create();
      for (const [kind, value] of some) fields[kind]?.(writer, value);
      const message = writer.finish();
      assert.ok(hasAtMostFields(message, some.length));
      assert.ok(some.length === 0 || !hasAtMostFields(message, some.length - 1));
    }),
  );
});

for (const [what, bytes] of [
  ['a group, in which fields could hide', [0x0b, 0x0c]],
  ['a wire type that does not exist', [0x0e, 0x00]],
  ['a text that goes on after the end', [0x12, 0x05, 0x61]],
  ['a length beyond what an index may be', [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
  ['a number without an end', [0x08, ...Array(11).fill(0x80)]],
  ['a tag without a value', [0x08]],
] as const) {
  test(`a message that has ${what} is refused`, () => {
    assert.equal(hasAtMostFields(Uint8Array.from(bytes), 64), false);
  });
}

test('whatever bytes come, it answers, and does not read on for ever', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => typeof hasAtMostFields(bytes, 64) === 'boolean'));
});
