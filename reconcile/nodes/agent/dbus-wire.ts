/** Messages of D-Bus, as bytes: little-endian, and of the types that one call takes. */

export interface Outgoing {
  readonly serial: number;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly destination: string;
  /** The one argument. */
  readonly flag?: boolean;
}

const methodCall = 1;
const errorReply = 3;
/** Codes of header fields. */
const field = { path: 1, interface: 2, member: 3, error: 4, replyTo: 5, destination: 6, signature: 8 } as const;

export function message({ serial, flag, ...names }: Outgoing): Buffer {
  const body = flag === undefined ? Buffer.alloc(0) : uint32(flag ? 1 : 0);
  const fields = [
    variant(field.path, 'o', text(names.path)),
    variant(field.interface, 's', text(names.interface)),
    variant(field.member, 's', text(names.member)),
    variant(field.destination, 's', text(names.destination)),
    ...(flag === undefined ? [] : [variant(field.signature, 'g', signature('b'))]),
  ];
  // Each field is a struct, and begins at a multiple of 8; the fixed header before them has 16 bytes.
  const header = fields.reduce((before, one) => Buffer.concat([padded(before, 8), one]), Buffer.alloc(0));
  const fixed = Buffer.concat([
    Buffer.from(['l'.charCodeAt(0), methodCall, 0, 1]),
    uint32(body.length),
    uint32(serial),
  ]);
  return Buffer.concat([padded(Buffer.concat([fixed, uint32(header.length), header]), 8), body]);
}

export type Incoming =
  | { readonly kind: 'other'; readonly replyTo: number | undefined }
  | { readonly kind: 'error'; readonly replyTo: number | undefined; readonly error: string; readonly text: string };

/**
 * The first message of these bytes; `undefined` and length 0: it is not whole yet. @throws {RangeError | Error} for
 * bytes that are no message of a local bus
 */
export function readMessage(bytes: Buffer): { readonly message: Incoming | undefined; readonly length: number } {
  if (bytes.length < 16) return { message: undefined, length: 0 };
  if (bytes[0] !== 'l'.charCodeAt(0)) throw new Error('the system bus does not speak little-endian');
  const [bodyLength, fieldsLength] = [bytes.readUInt32LE(4), bytes.readUInt32LE(12)];
  const start = up(16 + fieldsLength, 8);
  const length = start + bodyLength;
  if (bytes.length < length) return { message: undefined, length: 0 };
  const { replyTo, error } = readFields(bytes.subarray(0, 16 + fieldsLength));
  if (bytes[1] !== errorReply) return { message: { kind: 'other', replyTo }, length };
  // An error's first argument is its message, where it has one.
  const words = bodyLength >= 5 ? textAt(bytes.subarray(0, length), start).text.slice(0, 500) : '';
  return { message: { kind: 'error', replyTo, error: error ?? 'unknown', text: words }, length };
}

function readFields(bytes: Buffer): { readonly replyTo: number | undefined; readonly error: string | undefined } {
  let [replyTo, error]: [number | undefined, string | undefined] = [undefined, undefined];
  for (let at = 16; at < bytes.length; ) {
    at = up(at, 8);
    const code = bytes.readUInt8(at);
    const type = String.fromCharCode(bytes.readUInt8(at + 2));
    at += 4;
    if (type === 'u') {
      at = up(at, 4);
      if (code === field.replyTo) replyTo = bytes.readUInt32LE(at);
      at += 4;
    } else if (type === 'g') {
      at += bytes.readUInt8(at) + 2;
    } else if (type === 's' || type === 'o') {
      const found = textAt(bytes, up(at, 4));
      if (code === field.error) error = found.text;
      at = found.end;
    } else throw new Error(`a header field of type ${type} is not known`);
  }
  return { replyTo, error };
}

function textAt(bytes: Buffer, at: number): { readonly text: string; readonly end: number } {
  const length = bytes.readUInt32LE(at);
  return { text: bytes.subarray(at + 4, at + 4 + length).toString('utf8'), end: at + 4 + length + 1 };
}

/** A header field: its code, the signature of its value, and the value, which begins at a multiple of 4 anyway. */
function variant(code: number, type: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([code]), signature(type), value]);
}

function signature(type: string): Buffer {
  return Buffer.concat([Buffer.from([type.length]), Buffer.from(`${type}\0`, 'latin1')]);
}

function text(value: string): Buffer {
  return Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function padded(bytes: Buffer, to: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(up(bytes.length, to) - bytes.length)]);
}

function up(at: number, to: number): number {
  return Math.ceil(at / to) * to;
}
