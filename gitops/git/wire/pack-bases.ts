import { GitError } from '../error.ts';
import { applyDelta } from './delta.ts';
import { bytesOf, type Delta, type ObjectType, type Whole } from './pack-entries.ts';

/** An object that deltas wait for. Only `createBases` keeps its bytes. */
export interface Base {
  readonly entry: Whole | Delta;
  readonly type: ObjectType;
  /** How many deltas it is made by itself. */
  readonly depth: number;
  /** What it is a delta on. */
  readonly below?: Base;
}

export interface Bases {
  keep(base: Base, data: Buffer): void;
  /** For a base that no delta waits for any more. */
  letGo(base: Base): void;
  /** @throws GitError TooLarge where too much had to be made again */
  bytes(base: Base): Buffer;
}

export interface BaseBounds {
  /** Bytes of bases that are kept at a time. */
  readonly maxKeptBytes: number;
  /** Bytes that are made again because they were not, and a thousand for the trouble of each. */
  readonly maxMadeAgain: number;
}

export const defaultBaseBounds: BaseBounds = { maxKeptBytes: 64 * 1024 * 1024, maxMadeAgain: 2 * 1024 ** 3 };

/** Bytes of bases that deltas wait for: a small pack's can fill the machine. The oldest are forgotten and remade. */
export function createBases(pack: Buffer, { maxKeptBytes, maxMadeAgain }: BaseBounds = defaultBaseBounds): Bases {
  const kept = new Map<Base, Buffer>();
  let bytes = 0;
  let madeAgain = 0;

  function keep(base: Base, data: Buffer): void {
    kept.set(base, data);
    bytes += data.length;
    for (const oldest of kept.keys()) {
      if (bytes <= maxKeptBytes || oldest === base) return;
      letGo(oldest);
    }
  }

  function letGo(base: Base): void {
    bytes -= kept.get(base)?.length ?? 0;
    kept.delete(base);
  }

  /** All of its chain is kept again, as far as there is room: who waits above waits below, too, as a rule. */
  function make(base: Base): Buffer {
    const chain: Base[] = [];
    let at: Base | undefined = base;
    for (; at && !kept.has(at); at = at.below) chain.push(at);
    let data = at && kept.get(at);
    for (const one of chain.toReversed()) {
      const stored = bytesOf(pack, one.entry);
      data = data ? applyDelta(data, stored) : stored;
      madeAgain += data.length + 1_000;
      if (madeAgain > maxMadeAgain)
        throw new GitError('TooLarge', 'the repository holds too many deltas of large files');
      keep(one, data);
    }
    if (!data) throw new Error('only what is not kept is made');
    return data;
  }

  return { keep, letGo, bytes: (base) => kept.get(base) ?? make(base) };
}
