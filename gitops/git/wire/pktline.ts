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

const headBytes = 4;
const mostBytes = 0xffff;

/** Takes an answer apart while it arrives. It keeps one packet (64 KiB) in the same place: copy what you keep. */
export function packetReader(onPacket: (packet: Packet) => void): PacketReader {
  let place: Buffer | undefined;
  let held = 0;

  /** @returns how many bytes of the chunk belong to the packet that is held */
  function complete(chunk: Buffer, start: number): number {
    place ??= Buffer.allocUnsafeSlow(mostBytes);
    let at = start;
    for (;;) {
      const length = held < headBytes ? headBytes : lengthOf(place, 0);
      const more = Math.min(length - held, chunk.length - at);
      chunk.copy(place, held, at, at + more);
      held += more;
      at += more;
      if (held < length) return at;
      // The head says how long it is, unless it is all there is.
      if (lengthOf(place, 0) > held) continue;
      const whole = packetIn(place, 0, held);
      held = 0;
      onPacket(whole);
      return at;
    }
  }

  function push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const length = held > 0 || chunk.length - at < headBytes ? Infinity : lengthOf(chunk, at);
      if (length <= chunk.length - at) {
        onPacket(packetIn(chunk, at, length));
        at += length;
      } else at = complete(chunk, at);
    }
  }

  function end(): void {
    if (held > 0) throw new GitError('BadAnswer', 'the server’s answer was cut off: it ends in the middle of a packet');
  }

  return { push, end };
}

/** Of the packet that begins there, its head included. @throws GitError BadAnswer */
function lengthOf(bytes: Buffer, at: number): number {
  const hex = bytes.toString('latin1', at, at + headBytes);
  const length = /^[0-9a-f]{4}$/i.test(hex) ? Number.parseInt(hex, 16) : 3;
  if (length === 3) throw new GitError('BadAnswer', 'the server did not answer in the Git protocol');
  return Math.max(length, headBytes);
}

function packetIn(bytes: Buffer, at: number, length: number): Packet {
  const marker = Number.parseInt(bytes.toString('latin1', at, at + headBytes), 16);
  if (marker === 0 || marker === 1 || marker === 2) return { kind: markers[marker] };
  return { kind: 'data', data: bytes.subarray(at + headBytes, at + length) };
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
