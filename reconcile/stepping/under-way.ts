import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';

export type Steps = Promise<readonly StepResult[]>;

/** Steps side by side, of which some may take long: their results are there as they come. */
export interface UnderWay {
  readonly chosen: ReadonlySet<string>;
  /** Whose result is still to come. */
  readonly keys: ReadonlySet<string>;
  /** Results that came since they were taken last. */
  take(): readonly StepResult[];
  /** Aborts with the next one that has work, and when all are over. */
  stirred(): AbortSignal;
  isOver(): boolean;
  /** Resolves with the first result of any. */
  readonly first: Promise<void>;
  /** @throws what the steps throw */
  readonly all: Steps;
}

/** @param begin is told where to hand in results, and whose are to come; what it does not hand in comes with all */
export function underWay(
  chosen: ReadonlySet<string>,
  begin: (onStep: (result: StepResult) => void, keys: ReadonlySet<string>) => Steps,
): UnderWay {
  const keys = new Set(chosen);
  const come = new Set<string>();
  const first = Promise.withResolvers<void>();
  let fresh: StepResult[] = [];
  let stirring = new AbortController();
  let isOver = false;
  const onStep = (result: StepResult) => {
    const key = keyOf(result);
    if (come.has(key)) return;
    come.add(key);
    keys.delete(key);
    fresh.push(result);
    first.resolve();
    if (hasWork(result) || hasActed(result)) stirring.abort();
  };
  const all = begin(onStep, keys).then((results) => {
    results.forEach(onStep);
    return results;
  });
  const end = () => {
    isOver = true;
    keys.clear();
    stirring.abort();
  };
  // A failure is thrown where it is awaited.
  all.then(end, end);
  return {
    chosen,
    keys,
    take() {
      const taken = fresh;
      fresh = [];
      if (!isOver) stirring = new AbortController();
      return taken;
    },
    stirred: () => stirring.signal,
    isOver: () => isOver,
    first: first.promise,
    all,
  };
}
