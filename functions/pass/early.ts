import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';

/** Reasons of a repository that took its whole time last time. One that was refused, or refuses, answers at once. */
const silent = new Set(['Timeout', 'Aborted', 'TakesTooLong']);

/** Whether the last pass waited for this fleet's repository in vain: then the others do not wait for it again. */
export function wasSilent({ status }: Pick<EtcdFleet, 'status'>): boolean {
  const source = conditionOf(status, 'SourceReady');
  return source?.status === 'False' && silent.has(source.reason);
}

/** Milliseconds that those who have settled wait for the others. */
const afterFirstMs = 750;

/**
 * What has settled once all that are worth waiting for have, or once the time is over. A rejection reaches the caller
 * where all are awaited.
 *
 * @param isWorthIt if none is worth it, all are: nothing else is waited for
 */
export async function settledWithin<T>(
  promises: readonly Promise<T>[],
  isWorthIt: (index: number) => boolean,
  ms: number,
): Promise<readonly T[]> {
  const settled: T[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  let isFirst = true;
  const soon: NodeJS.Timeout[] = [];
  const noted = promises.map(async (promise) => {
    settled.push(await promise);
    if (isFirst && promises.length > 1) soon.push(setTimeout(resolve, Math.min(ms, afterFirstMs)));
    isFirst = false;
  });
  const worth = noted.filter((_, index) => isWorthIt(index));
  const awaited = Promise.allSettled(worth.length > 0 ? worth : noted);
  for (const one of noted) one.catch(() => undefined); // what is not awaited here is awaited by the caller
  await Promise.race([awaited, over]);
  clearTimeout(timer);
  for (const one of soon) clearTimeout(one);
  return [...settled];
}
