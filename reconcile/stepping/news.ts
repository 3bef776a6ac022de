import type { Kinds } from './kind.ts';
import { hasWork, type StepResult } from './result.ts';

/**
 * Whether an invocation leaves news for a follow-up that is under way. A follow-up's own unsettled failures are none:
 * else it would go round.
 */
export function isNews(
  { moved, unsettled }: { readonly moved: boolean; readonly unsettled: boolean },
  isFollowUp: boolean,
): boolean {
  return moved || (!isFollowUp && unsettled);
}

/** Whether there is work that may go on before a tick would look. */
export function isAwaited(
  kinds: Kinds,
  results: Readonly<Record<string, readonly StepResult[] | undefined>>,
  now: Date,
): boolean {
  return Object.entries(kinds).some(([name, { waits }]) => {
    const of = results[name] ?? [];
    return waits !== undefined && of.some(hasWork) && waits.isAwaited(of, now);
  });
}
