import { patienceWith } from '../../reasons/waits.ts';
import { type Decision, endsAfter } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';
import { awaitedBy, hasLasted } from '../know/waiting.ts';

/**
 * A wait that has lasted for longer than its reason may is a person's: nothing else ever tells of a cluster that
 * neither goes on nor asks for anything. One that says itself when it is over is not counted.
 */
export function outlasted(decision: Decision, situation: Situation): Decision {
  if (decision.kind !== 'wait' || endsAfter(decision).length > 0) return decision;
  const { reason, message, besides } = decision;
  const patience = patienceWith(reason);
  if (!patience || !hasLasted(awaitedBy(reason), patience.grace, situation)) return decision;
  const { cure } = patience;
  return { kind: 'refuse', reason: patience.reason, message, cure, waited: true, ...(besides && { besides }) };
}
