import { setTimeout as pause } from 'node:timers/promises';
import type { Kinds, SteppingContext } from '../../reconcile/stepping/kind.ts';
import type { Stepped } from '../../reconcile/stepping/run.ts';

/** Milliseconds that what the steps have left waits for repositories that are still being read. */
const patienceMs = 1_000;

/** Tells what the steps have left where fleets take longer. @returns whether it was told */
export async function tellEarly(
  { onEarly }: Pick<SteppingContext, 'onEarly'>,
  { results, workRemains, moved, unsettled }: Stepped<Kinds>,
  fleets: Promise<unknown>,
): Promise<boolean> {
  if (!onEarly || !workRemains) return false;
  const over = new AbortController();
  const isLate = pause(patienceMs, true, { signal: over.signal }).catch(() => false);
  // What fails there is thrown where it is awaited.
  const isThere = fleets.then(
    () => false,
    () => false,
  );
  if (!(await Promise.race([isThere, isLate]).finally(() => over.abort()))) return false;
  await onEarly({ results, workRemains, moved, unsettled });
  return true;
}
