import { GitError } from '../error.ts';

/** One packet of Git's pkt-line framing: data, or one of the special markers 0000 to 0002. */
export type Packet =
  | { readonly kind: 'data'; readonly data: Buffer }
  | { readonly kind: 'flush' | 'delimiter' | 'end' };

const markers = { 0: 'flush', 1: 'delimiter', 2: 'end' } as const;

/** @throws GitError BadAnswer where the framing breaks, also when it ends in the middle of a packet */
export function packets(bytes: Buffer): readonly Packet[] {
  const found: Packet[] = [];
  const reader = packetReader((packet) => found.push(packet));
  reader.push(bytes);
  reader.end();
  return found;
}

export interface PacketReader {
  /** @throws GitError BadAnswer where the framing breaks */
  push(chunk: Buffer): void;
  /** @throws GitError BadAnswer in the middle of a packet */
  end(): void;
}

/** Takes an answer apart while it arrives: at most one packet (64 KiB) is kept. */
export function packetReader(onPacket: (packet: Packet) => void): PacketReader {
  let rest: Buffer = Buffer.alloc(0);

  function push(chunk: Buffer): void {
    let bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (let packet = first(bytes); packet; packet = first(bytes)) {
      bytes = bytes.subarray(packet.length);
      onPacket(packet.packet);
    }
    // A copy: what was handed out may be the last that keeps the chunk.
    rest = Buffer.from(bytes);
  }

  function end(): void {
    if (rest.length > 0)
      throw new GitError('BadAnswer', 'the server’s answer was cut off: it ends in the middle of a packet');
  }

  return { push, end };
}

function first(bytes: Buffer): { readonly packet: Packet; readonly length: number } | undefined {
  if (bytes.length < 4) return undefined;
  const hex = bytes.toString('latin1', 0, 4);
  const length = /^[0-9a-f]{4}$/i.test(hex) ? Number.parseInt(hex, 16) : 3;
  if (length === 0 || length === 1 || length === 2) return { packet: { kind: markers[length] }, length: 4 };
  if (length === 3) throw new GitError('BadAnswer', 'the server did not answer in the Git protocol');
  if (bytes.length < length) return undefined;
  return { packet: { kind: 'data', data: bytes.subarray(4, length) }, length };
}

export function encodePacket(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}

export const flushPacket = '0000';
export const delimiterPacket = '0001';

/** The packet as text, without the line feed that ends most of them. */
export function packetText(data: Buffer): string {
  return data.toString('utf8').replace(/\n$/, '');
}
