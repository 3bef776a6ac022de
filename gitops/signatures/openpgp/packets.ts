import { invalid } from '../refusal.ts';

export const tags = {
  signature: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  marker: 10,
  trust: 12,
  userId: 13,
  publicSubkey: 14,
  userAttribute: 17,
  padding: 21,
} as const;

export interface Packet {
  readonly tag: number;
  readonly body: Buffer;
}

/** Packets of one block. A key has two for each user ID, and one for each signature that others gave it. */
const mostPackets = 2000;

/** RFC 9580, 4.2. Packets in parts are refused: neither keys nor signatures have them. @throws SignatureRefusal */
export function packetsIn(data: Buffer): readonly Packet[] {
  const packets: Packet[] = [];
  for (let at = 0; at < data.length; ) {
    if (packets.length === mostPackets) throw invalid(`has more than ${mostPackets} OpenPGP packets`);
    const first = byteAt(data, at);
    if (!(first & 0x80)) throw invalid('has OpenPGP data that is no packet');
    const isNew = (first & 0x40) !== 0;
    const { length, bodyAt } = isNew ? newLength(data, at + 1) : oldLength(data, at + 1, first & 3);
    if (bodyAt + length > data.length) throw cutOff();
    packets.push({ tag: isNew ? first & 0x3f : (first >> 2) & 0x0f, body: data.subarray(bodyAt, bodyAt + length) });
    at = bodyAt + length;
  }
  return packets;
}

interface Length {
  readonly length: number;
  readonly bodyAt: number;
}

function newLength(data: Buffer, at: number): Length {
  const first = byteAt(data, at);
  if (first < 192) return { length: first, bodyAt: at + 1 };
  if (first < 224) return { length: ((first - 192) << 8) + byteAt(data, at + 1) + 192, bodyAt: at + 2 };
  if (first < 255) throw invalid('has an OpenPGP packet in parts');
  return { length: numberAt(data, at + 1, 4), bodyAt: at + 5 };
}

function oldLength(data: Buffer, at: number, type: number): Length {
  if (type === 3) throw invalid('has an OpenPGP packet without a length');
  const bytes = 2 ** type;
  return { length: numberAt(data, at, bytes), bodyAt: at + bytes };
}

function byteAt(data: Buffer, at: number): number {
  return numberAt(data, at, 1);
}

function numberAt(data: Buffer, at: number, bytes: number): number {
  if (at + bytes > data.length) throw cutOff();
  return data.readUIntBE(at, bytes);
}

/** What packets are made of. @throws SignatureRefusal where they end early */
export interface PacketReader {
  number(bytes: number): number;
  bytes(count: number): Buffer;
  /** A number of any size, without zeros before it. */
  mpi(): Buffer;
  rest(): Buffer;
  isAtEnd(): boolean;
}

export function packetReader(data: Buffer): PacketReader {
  let at = 0;

  function bytes(count: number): Buffer {
    if (at + count > data.length) throw cutOff();
    at += count;
    return data.subarray(at - count, at);
  }

  const number = (count: number) => bytes(count).readUIntBE(0, count);
  return {
    bytes,
    number,
    mpi: () => bytes(Math.ceil(number(2) / 8)),
    rest: () => bytes(data.length - at),
    isAtEnd: () => at === data.length,
  };
}

/** Areas of subpackets (5.2.3.7): lengths are written as in new packets, but for parts. */
export function subpacketsIn(area: Buffer): readonly Packet[] {
  const found: Packet[] = [];
  for (let at = 0; at < area.length; ) {
    const first = byteAt(area, at);
    const { length, bodyAt } =
      first >= 224 && first < 255
        ? { length: ((first - 192) << 8) + byteAt(area, at + 1) + 192, bodyAt: at + 2 }
        : newLength(area, at);
    if (length === 0 || bodyAt + length > area.length) throw cutOff();
    found.push({ tag: byteAt(area, bodyAt), body: area.subarray(bodyAt + 1, bodyAt + length) });
    at = bodyAt + length;
  }
  return found;
}

function cutOff(): Error {
  return invalid('has OpenPGP data that is cut off');
}
