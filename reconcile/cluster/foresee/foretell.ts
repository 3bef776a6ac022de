import type { Observation } from '../know/observation.ts';
import { costsOf } from '../know/plan/costs.ts';
import type { Foretold } from '../know/plan/followed.ts';
import { plan } from './plan.ts';

/** The steps from here, as they are followed: no request, and up to 70 ms for nine members with TLS. */
export function foretell(observation: Observation): Foretold {
  const { steps, end } = plan(observation);
  return { steps, end: end.kind, isBlind: observation.certificates.kind === 'unread', costs: costsOf(steps) };
}
