import { createHash } from 'node:crypto';
import { takeTurns } from '../../turns.ts';
import { GitError } from '../error.ts';
import { applyDelta } from './delta.ts';
import { type Base, type BaseBounds, createBases, defaultBaseBounds } from './pack-bases.ts';
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
  readonly crc: number;
}

/** Git itself writes no chain of more than 4095, and reading an object assembles all of its chain. */
const longestChain = 4_095;

interface Waiting {
  readonly entry: Delta;
  readonly crc: number;
}

interface Ready {
  readonly delta: Waiting;
  readonly base: Base;
  /** Whether no other waits for that base. */
  readonly last: boolean;
}

/**
 * Names every object of a pack, in no order: whole objects first, then deltas from their bases upwards, each put
 * together once. Of two entries with one name the first counts, so that no chain of bases is a circle.
 * @throws GitError TooLarge; BadAnswer, also where a base is not in the pack
 */
export async function nameObjects(
  pack: Buffer,
  bounds: PackBounds & BaseBounds = { ...defaultPackBounds, ...defaultBaseBounds },
): Promise<readonly NamedObject[]> {
  const named = new Map<string, NamedObject>();
  const wholes: { readonly name: string; readonly entry: Whole }[] = [];
  const waiting = new Map<Delta['base'], Waiting[]>();
  const ready: Ready[] = [];
  const bases = createBases(pack, bounds);
  const turns = takeTurns();

  function note(name: string, start: number, crc: number): void {
    if (!named.has(name)) named.set(name, { name, start, crc });
  }

  /** Lets those go on that waited for an object, by its place or by its name. */
  function release(base: Base, name: string, data: () => Buffer): void {
    const deltas = [base.entry.start, name].flatMap((key) => waiting.get(key) ?? []);
    if (deltas.length === 0) return;
    bases.keep(base, data());
    // The last that is taken is the first that was put there.
    for (const [index, delta] of deltas.entries()) ready.push({ delta, base, last: index === 0 });
    waiting.delete(base.entry.start);
    waiting.delete(name);
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
    await turns.next();
  }

  for (const { name, entry } of wholes) {
    release({ entry, type: entry.type, depth: 0 }, name, () => bytesOf(pack, entry));
    for (let next = ready.pop(); next; next = ready.pop()) {
      const { entry, crc } = next.delta;
      const { type, depth } = next.base;
      if (depth === longestChain) throw tooDeep();
      const data = applyDelta(bases.bytes(next.base), bytesOf(pack, entry));
      if (next.last) bases.letGo(next.base);
      const name = nameOf(type, data);
      note(name, entry.start, crc);
      release({ entry, type, depth: depth + 1, below: next.base }, name, () => data);
      await turns.next();
    }
  }
  if (waiting.size > 0) throw lacksBases();
  return [...named.values()];
}

function nameOf(type: ObjectType, data: Buffer): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

function tooDeep(): GitError {
  return new GitError('BadAnswer', `the data from the Git server holds deltas more than ${longestChain} deep`);
}

function lacksBases(): GitError {
  return new GitError('BadAnswer', 'the data from the Git server holds deltas whose base objects are missing');
}
