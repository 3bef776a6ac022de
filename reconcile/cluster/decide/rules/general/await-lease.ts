import { type Decision, wait } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * One step at a time: while another invocation carries out its step, this one ends.
 *
 * Guards I7 and I2: no two actions are decided from one observation. A lease is over when its deadline plus a margin
 * has passed by the API server's clock, or when its pod's containers are seen terminated.
 */
export function awaitLease({ lease }: Situation): Decision | undefined {
  if (lease.kind !== 'held') return undefined;
  return wait('AnotherInvocationActs', `${lease.holder} is carrying out a step`, { on: 'time', afterSeconds: 2 });
}
