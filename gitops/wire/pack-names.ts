import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { GitError } from '../error.ts';
import { applyDelta } from './delta.ts';
import {
  bytesOf,
  type Delta,
  defaultPackBounds,
  type ObjectType,
  type PackBounds,
  packEntries,
  type Whole,
} from './pack-entries.ts';

/** An object of a pack, under the name that follows from what it is. */
export interface NamedObject {
  /** 40 hexadecimal digits. */
  readonly name: string;
  /** Where its entry begins, in bytes. */
  readonly start: number;
  /** CRC-32 of its entry. */
  readonly crc: number;
}

/** Git itself makes none of more than 4095, and whoever reads an object puts together all of its chain. */
const longestChain = 4_095;
/** Milliseconds without a break. */
const longestTurnMs = 50;

interface Waiting {
  readonly entry: Delta;
  readonly crc: number;
}

interface Base {
  readonly type: ObjectType;
  readonly data: Buffer;
  readonly depth: number;
}

/**
 * Names every object of a pack, in no order.
 *
 * Whole objects in one pass, then deltas from their bases upwards: each is put together once, however they hang together. Of two entries
 * with one name the first that got it is taken, so that no chain of bases ever comes round to itself.
 *
 * @throws GitError TooLarge; BadAnswer, also where a base is not in the pack
 */
export async function nameObjects(
  pack: Buffer,
  bounds: PackBounds = defaultPackBounds,
): Promise<readonly NamedObject[]> {
  const named = new Map<string, NamedObject>();
  const wholes: { readonly name: string; readonly entry: Whole }[] = [];
  const waiting = new Map<Delta['base'], Waiting[]>();
  const ready: { readonly delta: Waiting; readonly base: Base }[] = [];
  let turn = performance.now();

  function note(name: string, start: number, crc: number): void {
    if (!named.has(name)) named.set(name, { name, start, crc });
  }

  function release(key: Delta['base'], base: Base): void {
    for (const delta of waiting.get(key) ?? []) ready.push({ delta, base });
    waiting.delete(key);
  }

  async function breathe(): Promise<void> {
    await setImmediate(); // or no timer, and so no deadline, could fire before the last object
    turn = performance.now();
  }

  for (const { entry, data, crc } of packEntries(pack, bounds)) {
    if (entry.type === 'delta') {
      const others = waiting.get(entry.base);
      if (others) others.push({ entry, crc });
      else waiting.set(entry.base, [{ entry, crc }]);
    } else {
      const name = nameOf(entry.type, data);
      note(name, entry.start, crc);
      wholes.push({ name, entry });
    }
    if (performance.now() - turn > longestTurnMs) await breathe();
  }

  for (const { name, entry } of wholes) {
    if (!waiting.has(entry.start) && !waiting.has(name)) continue;
    const base = { type: entry.type, data: bytesOf(pack, entry), depth: 0 };
    release(entry.start, base);
    release(name, base);
    for (let next = ready.pop(); next; next = ready.pop()) {
      const { entry, crc } = next.delta;
      const { type, depth } = next.base;
      if (depth === longestChain) throw tooDeep();
      const data = applyDelta(next.base.data, bytesOf(pack, entry));
      const name = nameOf(type, data);
      note(name, entry.start, crc);
      const base = { type, data, depth: depth + 1 };
      release(entry.start, base);
      release(name, base);
      if (performance.now() - turn > longestTurnMs) await breathe();
    }
  }
  if (waiting.size > 0) throw lacksBases();
  return [...named.values()];
}

function nameOf(type: ObjectType, data: Buffer): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

function tooDeep(): GitError {
  return new GitError(
    'BadAnswer',
    `the data from the Git server holds changes upon changes, more than ${longestChain} deep`,
  );
}

function lacksBases(): GitError {
  return new GitError('BadAnswer', 'the data from the Git server holds changes to objects that it left out');
}
