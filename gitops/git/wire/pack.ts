import { createHash } from 'node:crypto';
import { GitError } from '../error.ts';
import { printable } from './advertisement.ts';
import { delimiterPacket, encodePacket, flushPacket, packets, packetText } from './pktline.ts';

/** What is asked of a server beside the commits themselves. */
export interface WantOptions {
  /** Commits of each history, counted from those that are wanted; 1: none of their parents. */
  readonly depth?: number;
  /** No files and no folders, where the server knows how to leave them out. */
  readonly commitsOnly?: boolean;
}

/** Asks for commits in protocol version 0: understood everywhere, for commits that a ref names. */
export function wantInVersion0(sha: string | readonly string[], { depth = 1, commitsOnly }: WantOptions = {}): Buffer {
  const capabilities = `side-band-64k ofs-delta no-progress${commitsOnly ? ' filter' : ''}`;
  const wants = [sha].flat().map((one, index) => `want ${one}${index === 0 ? ` ${capabilities}` : ''}\n`);
  const args = [...wants, `deepen ${depth}\n`, ...(commitsOnly ? ['filter tree:0\n'] : [])];
  return Buffer.from([...args.map(encodePacket), flushPacket, encodePacket('done\n')].join(''));
}

/** The same in protocol version 2, where a server also gives commits that no ref names any more. */
export function wantInVersion2(sha: string | readonly string[], { depth = 1, commitsOnly }: WantOptions = {}): Buffer {
  const wants = [sha].flat().map((one) => `want ${one}\n`);
  const filter = commitsOnly ? ['filter tree:0\n'] : [];
  const args = [...wants, `deepen ${depth}\n`, ...filter, 'ofs-delta\n', 'no-progress\n', 'done\n'];
  return Buffer.from(
    [encodePacket('command=fetch\n'), delimiterPacket, ...args.map(encodePacket), flushPacket].join(''),
  );
}

/** `refused`: the server will not give that commit, in its own words. */
export type PackAnswer =
  | { readonly kind: 'pack'; readonly pack: Buffer }
  | { readonly kind: 'refused'; readonly message: string };

const band = { pack: 1, progress: 2, fatal: 3 } as const;

/**
 * Takes the pack out of an answer of either version: both wrap it in the same side band, and what stands before it
 * (`NAK`, `shallow …`, section names) needs no reading when one commit is asked for.
 *
 * @throws GitError BadAnswer if the pack is incomplete or damaged
 */
export function readPackAnswer(body: Buffer): PackAnswer {
  const parts: Buffer[] = [];
  for (const packet of packets(body)) {
    if (packet.kind !== 'data') continue;
    const { data } = packet;
    if (data[0] === band.pack) parts.push(data.subarray(1));
    else if (data[0] === band.fatal) return { kind: 'refused', message: printable(packetText(data.subarray(1))) };
    else if (data.toString('latin1', 0, 4) === 'ERR ')
      return { kind: 'refused', message: printable(packetText(data.subarray(4))) };
  }
  const pack = Buffer.concat(parts);
  if (pack.length === 0) return { kind: 'refused', message: 'the server sent no data' };
  assertWhole(pack);
  return { kind: 'pack', pack };
}

/** A pack ends with the SHA-1 of all before it, so a proxy that cuts an answer short does not go unnoticed. */
function assertWhole(pack: Buffer): void {
  const content = pack.subarray(0, -20);
  const whole =
    pack.toString('latin1', 0, 4) === 'PACK' &&
    pack.length >= 32 &&
    createHash('sha1').update(content).digest().equals(pack.subarray(-20));
  if (!whole) throw new GitError('BadAnswer', 'the data from the Git server is damaged or was cut off');
}
