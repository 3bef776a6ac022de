import type { Situation } from '../decide.ts';
import { type Decision, refuse } from '../decision.ts';

/**
 * What the spec asks for and can't be done is said, never passed over in silence: a cluster whose commit had no effect must not look
 * converged. Everything else of the commit was done before.
 */
export function nameRefusals({ effective }: Situation): Decision | undefined {
  const [refusal] = effective.refusals;
  return refusal && refuse(refusal.reason, refusal.message, refusal.cure);
}
