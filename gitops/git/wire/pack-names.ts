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
  resultSize,
  type Whole,
} from './pack-entries.ts';

/** An object of a pack, under the name that follows from what it is. */
export interface NamedObject {
  /** 40 hexadecimal digits. */
  readonly name: string;
  /** Where its entry begins, in bytes. */
  readonly start: number;
  readonly crc: number;
  /** A file that is not read. */
  readonly isLarge?: true;
}

export interface Named {
  readonly objects: readonly NamedObject[];
  /** Some have no name: they are made of a file, or are one, that is too large to be held. */
  readonly leavesOut: boolean;
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

interface Job {
  readonly pack: Buffer;
  readonly bounds: PackBounds & BaseBounds;
  /** Milliseconds that others wait for it. */
  readonly patienceMs: number;
  readonly end: PromiseWithResolvers<Named>;
}

const firstPatienceMs = 100;

/**
 * Names every object of a pack, in no order: whole objects first, then deltas from their bases upwards, each put
 * together once. Of two entries with one name the first counts, so that no chain of bases is a circle.
 *
 * One at a time, however many repositories a thread reads: it holds what one pack may, and no more. One that takes long
 * while others wait begins anew after them, with twice the time: so all cost at most three times as much, and small
 * ones of one team do not wait until large ones of another are done.
 * @throws GitError TooLarge; BadAnswer, also where a base is not in the pack
 */
export function nameObjects(
  pack: Buffer,
  bounds: PackBounds & BaseBounds = { ...defaultPackBounds, ...defaultBaseBounds },
): Promise<Named> {
  const end = Promise.withResolvers<Named>();
  jobs.push({ pack, bounds, patienceMs: firstPatienceMs, end });
  if (!isAtWork) void work();
  return end.promise;
}

const jobs: Job[] = [];
let isAtWork = false;

async function work(): Promise<void> {
  isAtWork = true;
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    const { pack, bounds, patienceMs, end } = job;
    const patience = new AbortController();
    const timer = setInterval(() => jobs.length > 0 && patience.abort(), patienceMs);
    try {
      end.resolve(await nameOne(pack, bounds, patience.signal));
    } catch (error) {
      if (patience.signal.aborted) jobs.push({ ...job, patienceMs: 2 * patienceMs });
      else end.reject(error);
    } finally {
      clearInterval(timer);
    }
  }
  isAtWork = false;
}

async function nameOne(pack: Buffer, bounds: PackBounds & BaseBounds, signal: AbortSignal): Promise<Named> {
  const named = new Map<string, NamedObject>();
  const wholes: { readonly name: string; readonly entry: Whole }[] = [];
  const waiting = new Map<Delta['base'], Waiting[]>();
  const ready: Ready[] = [];
  const bases = createBases(pack, bounds);
  const turns = takeTurns(signal);
  let leavesOut = false;

  function note(one: NamedObject): void {
    if (!named.has(one.name)) named.set(one.name, one);
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

  for await (const { entry, crc, ...rest } of packEntries(pack, bounds, signal)) {
    const isLarge = 'name' in rest;
    if (entry.type === 'delta' && isLarge) leavesOut = true;
    else if (isLarge) note({ name: rest.name, start: entry.start, crc, isLarge });
    else if (entry.type === 'delta') {
      const others = waiting.get(entry.base);
      if (others) others.push({ entry, crc });
      else waiting.set(entry.base, [{ entry, crc }]);
    } else {
      const name = nameOf(entry.type, rest.data);
      note({ name, start: entry.start, crc });
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
      const delta = bytesOf(pack, entry);
      if (resultSize(delta) > bounds.maxHeldBytes) {
        if (type !== 'blob') throw tooLargeToHold(type);
        leavesOut = true;
        if (next.last) bases.letGo(next.base);
        continue;
      }
      const data = applyDelta(bases.bytes(next.base), delta);
      if (next.last) bases.letGo(next.base);
      const name = nameOf(type, data);
      note({ name, start: entry.start, crc });
      release({ entry, type, depth: depth + 1, below: next.base }, name, () => data);
      await turns.next();
    }
  }
  const large = [...named.values()].filter(({ isLarge }) => isLarge);
  const waitsForLarge = large.some(({ start, name }) => waiting.has(start) || waiting.has(name));
  if (waiting.size > 0 && !leavesOut && !waitsForLarge) throw lacksBases();
  return { objects: [...named.values()], leavesOut: leavesOut || waitsForLarge };
}

function nameOf(type: ObjectType, data: Buffer): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

function tooLargeToHold(type: ObjectType): GitError {
  return new GitError('TooLarge', `the repository holds a ${type} that is too large: keep the specs in a smaller one`);
}

function tooDeep(): GitError {
  return new GitError('BadAnswer', `the data from the Git server holds deltas more than ${longestChain} deep`);
}

function lacksBases(): GitError {
  return new GitError('BadAnswer', 'the data from the Git server holds deltas whose base objects are missing');
}
