import { crc32c } from '../../../reconcile/backup/agent/crc32c.ts';

/** Files of etcd's log, laid out by hand. Those that etcd wrote are read in test/integration/backup/disk-log. */

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    if (rest <= 0x7fn) return Buffer.from(bytes);
  }
}

/** Of numbers, by their fields from 1 on. */
export function message(...numbers: readonly (number | bigint)[]): Buffer {
  return Buffer.concat(numbers.flatMap((value, index) => [varint((index + 1) << 3), varint(value)]));
}

const withBytes = (field: number, data: Buffer) => [varint((field << 3) | 2), varint(data.length), data];

export interface Line {
  readonly type: number;
  readonly data: Buffer;
}

export const metadata = (member: bigint, cluster: bigint): Line => ({ type: 1, data: message(member, cluster) });
export const entry = (term: number, index: number, size = 0): Line => {
  const data = size > 0 ? withBytes(4, Buffer.alloc(size, 7)) : [];
  return { type: 2, data: Buffer.concat([message(0, term, index), ...data]) };
};
export const state = (term: number, vote: bigint, commit: number): Line => ({
  type: 3,
  data: message(term, vote, commit),
});
export const snapshot = (index: number, term: number): Line => ({ type: 5, data: message(index, term) });

function framed(record: Buffer): Buffer {
  const padding = (8 - (record.length % 8)) % 8;
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(record.length) | (padding === 0 ? 0n : BigInt(0x80 | padding) << 56n));
  return Buffer.concat([length, record, Buffer.alloc(padding)]);
}

/** A file, with so many zeros behind it; and the checksum that the next one begins with. */
export function walFile(lines: readonly Line[], { zeros = 4096, before = 0 } = {}) {
  let running = before;
  const records = lines.map(({ type, data }) => {
    running = crc32c(data, running);
    return framed(Buffer.concat([message(type, running), ...withBytes(3, data)]));
  });
  const bytes = Buffer.concat([framed(message(4, before)), ...records, Buffer.alloc(zeros)]);
  return { bytes, running, ends: bytes.length - zeros, begins: records.map(({ length }) => length) };
}
