import { GitError } from '../error.ts';

/** One packet of Git's pkt-line framing: data, or one of the special markers 0000 to 0002. */
export type Packet =
  | { readonly kind: 'data'; readonly data: Buffer }
  | { readonly kind: 'flush' | 'delimiter' | 'end' };

const markers = { 0: 'flush', 1: 'delimiter', 2: 'end' } as const;

/** @throws GitError BadAnswer where the framing breaks, also when it ends in the middle of a packet */
export function* packets(bytes: Buffer): Generator<Packet> {
  for (let at = 0; at < bytes.length; ) {
    const hex = bytes.toString('latin1', at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(hex)) throw new GitError('BadAnswer', 'the server did not answer in the Git protocol');
    const length = Number.parseInt(hex, 16);
    if (length === 0 || length === 1 || length === 2) {
      yield { kind: markers[length] };
      at += 4;
      continue;
    }
    if (length < 4 || at + length > bytes.length) {
      throw new GitError('BadAnswer', 'the server’s answer was cut off: it ends in the middle of a packet');
    }
    yield { kind: 'data', data: bytes.subarray(at + 4, at + length) };
    at += length;
  }
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
