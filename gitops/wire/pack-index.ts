import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { applyDelta } from './delta.ts';
import { contentOf, damaged, type Entry, type ObjectType, packEntries } from './pack-entries.ts';

export interface PackObject {
  readonly type: ObjectType;
  readonly data: Buffer;
}

export interface PackIndex {
  /** `undefined` if it is not in this pack. @throws GitError BadAnswer */
  read(oid: string): PackObject | undefined;
}

/** Git itself makes none of more than 4095. */
const longestChain = 5_000;
/** Rounds in which deltas on names are put together; a server that sends bases first needs one. */
const mostRounds = 100;
/** What putting deltas together may come to: bytes of the results, and a thousand for the trouble of each. */
const mostWork = 3 * 1024 ** 3;
/** Bytes of bases that are kept for the next delta on them. */
const keptBytes = 32 * 1024 * 1024;
/** Milliseconds without a break. */
const longestTurnMs = 50;

/**
 * Finds every object of a pack. What an object is called follows from what it is: one that was damaged on its way is just not there.
 *
 * One pass over the pack, for its bounds and for its names; deltas, of which there are few where only one commit was asked for, are put
 * together when a name is wanted that no whole object has.
 *
 * @throws GitError TooLarge, BadAnswer
 */
export async function indexPack(pack: Buffer): Promise<PackIndex> {
  const byName = new Map<string, Entry>();
  const byStart = new Map<number, Entry>();
  let nameless: Entry[] = [];
  let turn = performance.now();
  for (const { entry, data } of packEntries(pack)) {
    byStart.set(entry.start, entry);
    if (entry.type === 'delta') nameless.push(entry);
    else note(nameOf(entry.type, data), entry);
    if (performance.now() - turn > longestTurnMs) {
      await setImmediate(); // or no timer, and so no deadline, could fire before the last object
      turn = performance.now();
    }
  }
  const bases = createBases();
  let work = 0;

  function note(name: string, entry: Entry): void {
    if (!byName.has(name)) byName.set(name, entry);
  }

  function objectOf(entry: Entry): PackObject | undefined {
    const deltas: Entry[] = [];
    let at = entry;
    let known = bases.get(at);
    while (!known && at.type === 'delta') {
      deltas.push(at);
      if (deltas.length > longestChain) throw damaged();
      // A base begins before what is made of it; one that is told by a name has it already. So no chain comes round to itself.
      const base = typeof at.base === 'string' ? byName.get(at.base) : byStart.get(at.base);
      if (!base) return undefined;
      at = base;
      known = bases.get(at);
    }
    let object = known ?? { type: at.type as ObjectType, data: contentOf(pack, at) };
    for (const delta of deltas.toReversed()) {
      bases.keep(at, object);
      object = { type: object.type, data: applyDelta(object.data, contentOf(pack, delta)) };
      work += object.data.length + 1_000;
      if (work > mostWork) throw damaged();
      at = delta;
    }
    return object;
  }

  /** A delta on a name can only be put together once that has its own: as often as another one has become known. */
  function nameDeltas(): void {
    for (let round = 0, before = -1; round < mostRounds && nameless.length !== before; round++) {
      before = nameless.length;
      nameless = nameless.filter((entry) => {
        const object = objectOf(entry);
        if (object) note(nameOf(object.type, object.data), entry);
        return !object;
      });
    }
  }

  return {
    read: (oid) => {
      if (!byName.has(oid) && nameless.length > 0) nameDeltas();
      const entry = byName.get(oid);
      return entry && objectOf(entry);
    },
  };
}

function nameOf(type: ObjectType, data: Buffer): string {
  return createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
}

interface Bases {
  get(entry: Entry): PackObject | undefined;
  keep(entry: Entry, object: PackObject): void;
}

function createBases(): Bases {
  const kept = new Map<Entry, PackObject>();
  let bytes = 0;
  return {
    get: (entry) => kept.get(entry),
    keep: (entry, object) => {
      if (kept.has(entry) || object.data.length > keptBytes) return;
      kept.set(entry, object);
      bytes += object.data.length;
      for (const [oldest, { data }] of kept) {
        if (bytes <= keptBytes) break;
        kept.delete(oldest);
        bytes -= data.length;
      }
    },
  };
}
