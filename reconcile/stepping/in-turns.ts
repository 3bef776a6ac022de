import { createHash } from 'node:crypto';
import type { Kube } from '../interfaces/kube.ts';

interface Spaced {
  readonly metadata: { readonly namespace?: string };
}

type Queue<T> = [index: number, item: T][];

/** One namespace. */
interface Space<T> {
  readonly waiting: Queue<T>;
  /** Those that took long the last time. */
  readonly slow: Queue<T>;
  busy: number;
  busySlow: number;
  begun: number;
  begunSlow: number;
}

interface Turns<T> {
  readonly atOnce: number;
  readonly kube: Pick<Kube, 'now'>;
  /** Whether it took long the last time. Absent: none did. */
  readonly isSlow?: (item: T) => boolean;
}

/**
 * Does the work for each object, so many at a time; returns in their order. A free place goes to the namespace that has
 * the fewest, and of these to the one that had the fewest: objects of some, however many and slow, keep no other
 * waiting. Of one namespace, those that took long the last time get no more places than the others. Which comes first
 * is drawn anew each minute: where time does not suffice for all, each has its turn.
 * @throws the first error, at once
 */
export async function inTurns<T extends Spaced, R>(
  items: readonly T[],
  { atOnce, kube, isSlow = () => false }: Turns<T>,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const now = kube.now() ?? new Date();
  const byNamespace = [...Map.groupBy(items.entries(), ([, { metadata }]) => metadata.namespace ?? '')];
  const spaces = rotated(byNamespace, '', now).map(([namespace, entries]): Space<T> => {
    const all = rotated(entries, namespace, now);
    const [slow = [], waiting = []] = [true, false].map((is) => all.filter(([, item]) => isSlow(item) === is));
    return { waiting, slow, busy: 0, busySlow: 0, begun: 0, begunSlow: 0 };
  });
  const next = () =>
    spaces
      .filter(({ waiting, slow }) => waiting.length + slow.length > 0)
      .reduce<Space<T> | undefined>((best, one) => (best && !hasHadLess(one, best) ? best : one), undefined);
  const worker = async () => {
    for (let space = next(); space; space = next()) {
      const queue = nextQueue(space);
      const [index, item] = queue.shift() ?? [];
      if (index === undefined || item === undefined) return;
      const slow = queue === space.slow ? 1 : 0;
      space.busy += 1;
      space.busySlow += slow;
      space.begun += 1;
      space.begunSlow += slow;
      results[index] = await work(item);
      space.busy -= 1;
      space.busySlow -= slow;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** Half of its places is for the slow ones; of a single place, every other turn. */
function nextQueue<T>({ waiting, slow, busy, busySlow, begun, begunSlow }: Space<T>): Queue<T> {
  if (waiting.length === 0) return slow;
  const isTheirTurn = busy > 0 ? busySlow < busy - busySlow : begunSlow < begun - begunSlow;
  return slow.length > 0 && isTheirTurn ? slow : waiting;
}

function hasHadLess(one: Space<unknown>, other: Space<unknown>): boolean {
  return one.busy === other.busy ? one.begun < other.begun : one.busy < other.busy;
}

const minuteMs = 60_000;

function rotated<T>(all: readonly T[], namespace: string, now: Date): T[] {
  const from = drawnFor(`${namespace} ${Math.floor(now.getTime() / minuteMs)}`) % all.length;
  return [...all.slice(from), ...all.slice(0, from)];
}

/** A number that the same words always give, and other words not: to begin somewhere else each time. */
export function drawnFor(words: string): number {
  return createHash('sha256').update(words).digest().readUInt32BE();
}
