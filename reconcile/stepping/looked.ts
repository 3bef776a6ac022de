import type { KindContext } from './kind.ts';
import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';
import type { UnderWay } from './under-way.ts';

export interface Looked {
  readonly results: readonly StepResult[];
  /** An object of the wait has gone. */
  readonly hasGone: boolean;
  /** Those that acted before all had their first steps, and were told early. */
  readonly told: ReadonlySet<string>;
}

export const nothing: Looked = { results: [], hasGone: false, told: new Set() };

/** Tells of what there is, and waits for the rest. */
export async function withLate(
  name: string,
  { onEarly, dryRun }: KindContext,
  looks: readonly UnderWay[],
  results: readonly StepResult[],
): Promise<Pick<Looked, 'results' | 'told'>> {
  const isLate = looks.some((one) => !one.isOver());
  const isTold = onEarly !== undefined && !dryRun && isLate && results.some(hasWork);
  if (isTold) {
    const moved = results.some(hasActed);
    await onEarly({ results: { [name]: results }, workRemains: true, moved, unsettled: false });
  }
  await Promise.all(looks.map(({ all }) => all));
  return {
    results: looks.reduce(withTaken, results),
    told: new Set(isTold ? results.filter(hasActed).map(keyOf) : []),
  };
}

export function withTaken(results: readonly StepResult[], look: UnderWay): readonly StepResult[] {
  const taken = look.take();
  return merged(results, taken, new Set(taken.map(keyOf)));
}

/** What was done counts for the whole invocation; what was looked at and is not there any more, does not. */
export function merged(
  before: readonly StepResult[],
  now: readonly StepResult[],
  looked: ReadonlySet<string>,
): readonly StepResult[] {
  const keys = new Set(now.map(keyOf));
  const acted = new Set(before.filter(hasActed).map(keyOf));
  const kept = before.filter((one) => !keys.has(keyOf(one)) && !looked.has(keyOf(one)));
  const told = now.map(
    (one): StepResult => (one.outcome === 'none' && acted.has(keyOf(one)) ? { ...one, outcome: 'acted' } : one),
  );
  return [...kept, ...told];
}
