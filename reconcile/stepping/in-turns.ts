import { createHash } from 'node:crypto';
import type { Kube } from '../interfaces/kube.ts';

interface Spaced {
  readonly metadata: { readonly namespace?: string };
}

/**
 * Does the work for each object, so many at a time; returns in their order. A free place goes to the namespace that has
 * the fewest of them, so that objects of one, however many and slow, keep no other waiting. Which object of a namespace
 * comes first is drawn anew each minute: where time does not suffice for all, each has its turn.
 * @throws the first error, at once
 */
export async function inTurns<T extends Spaced, R>(
  items: readonly T[],
  { atOnce, kube }: { readonly atOnce: number; readonly kube: Pick<Kube, 'now'> },
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const now = kube.now() ?? new Date();
  const spaces = [...Map.groupBy(items.entries(), ([, { metadata }]) => metadata.namespace ?? '')].map(
    ([namespace, entries]) => ({ waiting: rotated(entries, namespace, now), busy: 0 }),
  );
  const next = () =>
    spaces
      .filter(({ waiting }) => waiting.length > 0)
      .reduce<(typeof spaces)[number] | undefined>(
        (best, one) => (best && best.busy <= one.busy ? best : one),
        undefined,
      );
  const worker = async () => {
    for (let space = next(); space; space = next()) {
      const [index, item] = space.waiting.shift() ?? [];
      if (index === undefined || item === undefined) return;
      space.busy += 1;
      results[index] = await work(item);
      space.busy -= 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
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
