import type { Refused } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * What the spec asks for and cannot be done is always reported: a cluster on which a commit had no effect must not look
 * converged. The rest of the commit was applied before.
 */
export function nameRefusals({ effective }: Situation): readonly Refused[] {
  return effective.refusals.map(({ field: _, ...told }) => ({ kind: 'refuse', ...told }));
}
