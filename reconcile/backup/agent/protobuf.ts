/** A message of protobuf, as far as etcd's log needs it: numbers, and bytes that are not copied. */

interface Fields {
  /** The last one of that number, as protobuf has it; 0: there is none. */
  number(field: number): bigint;
  bytes(field: number): Buffer | undefined;
}

/** etcd's have four at most; the memory that another takes is bounded. */
const mostFields = 64;

/** `undefined`: it is no such message. */
export function fieldsOf(message: Buffer): Fields | undefined {
  const numbers = new Map<number, bigint>();
  const bytes = new Map<number, Buffer>();
  let at = 0;
  for (let count = 0; at < message.length; count++) {
    const key = varintAt(message, at);
    if (!key || count === mostFields) return undefined;
    const [field, kind] = [Number(key.value >> 3n), Number(key.value & 7n)];
    const value = kind === 0 || kind === 2 ? varintAt(message, key.ends) : undefined;
    if (!value) return undefined;
    at = value.ends;
    if (kind === 0) numbers.set(field, value.value);
    else {
      if (value.value > BigInt(message.length - at)) return undefined;
      const ends = at + Number(value.value);
      bytes.set(field, message.subarray(at, ends));
      at = ends;
    }
  }
  return { number: (field) => numbers.get(field) ?? 0n, bytes: (field) => bytes.get(field) };
}

/** Of 64 bits at most. */
function varintAt(message: Buffer, begins: number): { readonly value: bigint; readonly ends: number } | undefined {
  let value = 0n;
  for (let length = 0; length < 10; length++) {
    const byte = message[begins + length];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * length);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), ends: begins + length + 1 };
  }
  return undefined;
}
