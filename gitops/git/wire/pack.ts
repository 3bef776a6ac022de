import { createHash } from 'node:crypto';
import { GitError } from '../error.ts';
import { delimiterPacket, encodePacket, flushPacket, type Packet, packetReader, packetText } from './pktline.ts';

export interface WantOptions {
  /** Commits of each history, counted from those that are wanted; 1: none of their parents. Absent: no commits. */
  readonly depth?: number;
  /** Objects to leave out, where the server can: all files, or folders as well. */
  readonly without?: 'files' | 'folders';
  /** Objects that are here already, and are not sent again. */
  readonly known?: Known;
}

/** Commits that are whole here, as far back as their history was fetched. */
export interface Known {
  readonly commits: readonly string[];
  /** The oldest of that history: what is behind them is not here. */
  readonly shallow: readonly string[];
}

const nothing: Known = { commits: [], shallow: [] };

const filters = { files: 'filter blob:none\n', folders: 'filter tree:0\n' } as const;

/**
 * Asks in protocol version 0: understood everywhere, for commits that a ref names. Of what it says that we can do,
 * a server hears what it offers: some refuse what they don't know, and some who does not say what they want.
 */
export function wantInVersion0(
  sha: string | readonly string[],
  { depth, without, known = nothing }: WantOptions,
  offered: readonly string[],
): Buffer {
  const can = (name: string) => offered.includes(name);
  const first: string[] = [...oneOf.flatMap((names) => names.find(can) ?? []), ...optional.filter(can)];
  if (without) first.push('filter');
  const wants = [sha].flat().map((one, index) => `want ${one}${index === 0 ? ` ${first.join(' ')}` : ''}\n`);
  const depthLines = can('shallow') && depth !== undefined ? [...shallowLines(known), `deepen ${depth}\n`] : [];
  const args = [...wants, ...depthLines, ...(without ? [filters[without]] : [])];
  const end = [...(can('shallow') ? haveLines(known) : []), 'done\n'];
  return Buffer.from([...args.map(encodePacket), flushPacket, ...end.map(encodePacket)].join(''));
}

/** The better one first. Azure DevOps refuses who can't do the former: https://github.com/go-git/go-git/issues/64. */
const oneOf = [
  ['multi_ack_detailed', 'multi_ack'],
  ['side-band-64k', 'side-band'],
] as const;
const optional = ['ofs-delta', 'no-progress'] as const;

/** The same in protocol version 2, where a server also gives objects that no ref names any more, and single files. */
export function wantInVersion2(
  sha: string | readonly string[],
  { depth, without, known = nothing }: WantOptions = { depth: 1 },
): Buffer {
  const args = [
    ...[sha].flat().map((one) => `want ${one}\n`),
    ...shallowLines(known),
    ...(depth === undefined ? [] : [`deepen ${depth}\n`]),
    ...(without ? [filters[without]] : []),
    ...haveLines(known),
    'ofs-delta\n',
    'no-progress\n',
    'done\n',
  ];
  return Buffer.from(
    [encodePacket('command=fetch\n'), delimiterPacket, ...args.map(encodePacket), flushPacket].join(''),
  );
}

function haveLines({ commits }: Known): readonly string[] {
  return commits.map((sha) => `have ${sha}\n`);
}

function shallowLines({ shallow }: Known): readonly string[] {
  return shallow.map((sha) => `shallow ${sha}\n`);
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
  | {
      readonly kind: 'pack';
      readonly pack: Buffer;
      /** Where the history now ends, and where it does no more. */
      readonly shallow: readonly string[];
      readonly unshallow: readonly string[];
    }
  | { readonly kind: 'refused'; readonly message: string };

/** What it holds is let go of when it is disposed of, and not when memory is collected. */
export interface PackReader extends Disposable {
  /** @throws GitError BadAnswer, TooLarge */
  push(chunk: Buffer): void;
  /** @throws GitError BadAnswer if the pack is incomplete or damaged */
  end(): PackAnswer;
}

const band = { pack: 1, progress: 2, fatal: 3 } as const;
/** Bytes of an answer beside its pack: progress that was not asked for, and names of commits. */
const mostBeside = 16 * 1024 * 1024;
const sumBytes = 20;
/** Address space that is reserved, and committed only as it fills; no answer is as long (see http.ts). */
const mostBytesOfPack = 128 * 1024 * 1024;
const growBytes = 256 * 1024;

/**
 * Takes the pack out of an answer of either version while it arrives: both use the same side band. Of the lines before
 * it (`NAK`, `shallow …`, section names) only the ends of the history count.
 * @param take told of the bytes that are kept; its error ends the answer
 */
export function packReader(take: (bytes: number) => void = () => undefined): PackReader {
  const shallow: string[] = [];
  const unshallow: string[] = [];
  const sum = createHash('sha1');
  // Grows in one place: parts would be copied, and stay until memory is collected.
  let memory: ArrayBuffer | undefined;
  let size = 0;
  let beside = 0;
  let isRefused = false;

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
      else if (word === 'unshallow') unshallow.push(sha);
    }
  }

  function keep(data: Buffer): void {
    take(data.length);
    const before = size;
    size += data.length;
    if (size > mostBytesOfPack)
      throw new GitError('TooLarge', `the server sent a pack of more than ${mostBytesOfPack} bytes`);
    memory ??= new ArrayBuffer(0, { maxByteLength: mostBytesOfPack });
    if (size > memory.byteLength) memory.resize(Math.min(mostBytesOfPack, size + growBytes));
    new Uint8Array(memory).set(data, before);
    // The last bytes so far are the sum, if there come no more, and not summed.
    const [from, to] = [Math.max(0, before - sumBytes), Math.max(0, size - sumBytes)];
    sum.update(new Uint8Array(memory, from, to - from));
  }

  const reader = packetReader(onPacket);
  return {
    push: reader.push,
    end: () => {
      // Not how: no word of an answer is repeated.
      if (isRefused) return { kind: 'refused', message: 'the server refuses' };
      reader.end();
      if (!memory) return { kind: 'refused', message: 'the server sent no data' };
      const pack = Buffer.from(memory.slice(0, size));
      memory.resize(0);
      // It ends with the SHA-1 of all before it, so a proxy that cuts an answer short does not go unnoticed.
      const isWhole =
        pack.toString('latin1', 0, 4) === 'PACK' && size >= 32 && sum.digest().equals(pack.subarray(-sumBytes));
      if (!isWhole) throw new GitError('BadAnswer', 'the data from the Git server is damaged or was cut off');
      return { kind: 'pack', pack, shallow, unshallow };
    },
    [Symbol.dispose]: () => memory?.resize(0),
  };
}

/** The whole answer at once. @throws GitError BadAnswer, TooLarge */
export function readPackAnswer(body: Buffer): PackAnswer {
  using reader = packReader();
  reader.push(body);
  return reader.end();
}
