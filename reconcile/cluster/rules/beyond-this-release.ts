import type { Situation } from '../decide.ts';
import { type Decision, refuse } from '../decision.ts';

/**
 * What the spec asks for and this release cannot yet do to a running cluster is said, never passed over in silence: a
 * cluster whose commit had no effect must not look converged.
 */
export function beyondThisRelease({ effective }: Situation): Decision | undefined {
  const [refusal] = effective.refusals;
  return refusal && refuse(refusal.reason, refusal.message, refusal.cure);
}
