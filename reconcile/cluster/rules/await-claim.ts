import type { Situation } from '../decide.ts';
import { type Decision, wait } from '../decision.ts';

/**
 * One step at a time: while another invocation carries out its own, this one leaves.
 *
 * Guards I7 and I2: two actions are never decided from one observation. A claim is over when its deadline plus a margin
 * has passed by the API server's clock, or its pod's containers were seen terminated.
 */
export function awaitClaim({ claim }: Situation): Decision | undefined {
  if (claim.kind !== 'held') return undefined;
  return wait('AnotherInvocationActs', `${claim.holder} is carrying out a step`, { on: 'time', afterSeconds: 2 });
}
