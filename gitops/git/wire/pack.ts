import { createHash } from 'node:crypto';
import { GitError } from '../error.ts';
import { delimiterPacket, encodePacket, flushPacket, type Packet, packetReader, packetText } from './pktline.ts';

/** What is asked of a server beside the commits themselves. */
export interface WantOptions {
  /** Commits of each history, counted from those that are wanted; 1: none of their parents. Absent: no commits. */
  readonly depth?: number;
  /** What is left out, where the server knows how: all files, or folders as well. */
  readonly without?: 'files' | 'folders';
}

const filters = { files: 'filter blob:none\n', folders: 'filter tree:0\n' } as const;

/** Asks for commits in protocol version 0: understood everywhere, for commits that a ref names. */
export function wantInVersion0(sha: string | readonly string[], { depth = 1, without }: WantOptions = {}): Buffer {
  const capabilities = `side-band-64k ofs-delta no-progress${without ? ' filter' : ''}`;
  const wants = [sha].flat().map((one, index) => `want ${one}${index === 0 ? ` ${capabilities}` : ''}\n`);
  const args = [...wants, `deepen ${depth}\n`, ...(without ? [filters[without]] : [])];
  return Buffer.from([...args.map(encodePacket), flushPacket, encodePacket('done\n')].join(''));
}

/** The same in protocol version 2, where a server also gives objects that no ref names any more, and single files. */
export function wantInVersion2(
  sha: string | readonly string[],
  { depth, without }: WantOptions = { depth: 1 },
): Buffer {
  const args = [
    ...[sha].flat().map((one) => `want ${one}\n`),
    ...(depth === undefined ? [] : [`deepen ${depth}\n`]),
    ...(without ? [filters[without]] : []),
    'ofs-delta\n',
    'no-progress\n',
    'done\n',
  ];
  return Buffer.from(
    [encodePacket('command=fetch\n'), delimiterPacket, ...args.map(encodePacket), flushPacket].join(''),
  );
}

/** Asks in protocol version 2 for refs whose names begin like these, and what tags among them point to. */
export function listRefs(names: readonly string[]): Buffer {
  const args = ['peel\n', ...names.map((name) => `ref-prefix ${name}\n`)];
  return Buffer.from(
    [encodePacket('command=ls-refs\n'), delimiterPacket, ...args.map(encodePacket), flushPacket].join(''),
  );
}

/** `refused`: the server will not give that commit, in its own words. */
export type PackAnswer =
  | { readonly kind: 'pack'; readonly pack: Buffer; readonly shallow: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string };

export interface PackReader {
  /** @throws GitError BadAnswer, TooLarge */
  push(chunk: Buffer): void;
  /** @throws GitError BadAnswer if the pack is incomplete or damaged */
  end(): PackAnswer;
}

const band = { pack: 1, progress: 2, fatal: 3 } as const;
/** Bytes of an answer beside its pack: progress that was not asked for, and names of commits. */
const mostBeside = 16 * 1024 * 1024;
const sumBytes = 20;

/**
 * Takes the pack out of an answer of either version while it arrives: both wrap it in the same side band, and of what
 * stands before it (`NAK`, `shallow …`, section names) only the ends of the history are of interest.
 *
 * @param take told of the bytes that are kept; what it throws ends the answer
 */
export function packReader(take: (bytes: number) => void = () => undefined): PackReader {
  const parts: Buffer[] = [];
  const shallow: string[] = [];
  const sum = createHash('sha1');
  let size = 0;
  let beside = 0;
  let isRefused = false;
  /** The last bytes so far: those at the very end are the sum, and not summed. */
  let tail: Buffer = Buffer.alloc(0);

  function onPacket(packet: Packet): void {
    if (packet.kind !== 'data' || isRefused) return;
    const { data } = packet;
    if (data[0] === band.pack) {
      keep(data.subarray(1));
      return;
    }
    beside += data.length;
    if (beside > mostBeside)
      throw new GitError('TooLarge', `the server sent more than ${mostBeside} bytes beside the data`);
    if (data[0] === band.fatal || data.toString('latin1', 0, 4) === 'ERR ') isRefused = true;
    else if (data[0] !== band.progress) {
      const [word, sha = ''] = packetText(data.subarray(0, 60)).split(' ');
      if (word === 'shallow') shallow.push(sha);
    }
  }

  function keep(data: Buffer): void {
    take(data.length);
    // A copy: the chunk that it is part of may be a hundred times as large.
    const part = Buffer.from(data);
    parts.push(part);
    size += part.length;
    const open = Buffer.concat([tail, part]);
    const end = Math.max(0, open.length - sumBytes);
    sum.update(open.subarray(0, end));
    tail = Buffer.from(open.subarray(end));
  }

  const reader = packetReader(onPacket);
  return {
    push: reader.push,
    end: () => {
      // Not how: no word of an answer is repeated.
      if (isRefused) return { kind: 'refused', message: 'the server refuses' };
      reader.end();
      if (size === 0) return { kind: 'refused', message: 'the server sent no data' };
      const pack = joined(parts, size);
      // It ends with the SHA-1 of all before it, so a proxy that cuts an answer short does not go unnoticed.
      const isWhole = pack.toString('latin1', 0, 4) === 'PACK' && size >= 32 && sum.digest().equals(tail);
      if (!isWhole) throw new GitError('BadAnswer', 'the data from the Git server is damaged or was cut off');
      return { kind: 'pack', pack, shallow };
    },
  };
}

/** Lets go of each part as soon as it is copied. */
function joined(parts: Buffer[], size: number): Buffer {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (let part = parts.shift(); part; part = parts.shift()) at += part.copy(whole, at);
  return whole;
}

/** The whole answer at once. @throws GitError BadAnswer, TooLarge */
export function readPackAnswer(body: Buffer): PackAnswer {
  const reader = packReader();
  reader.push(body);
  return reader.end();
}
