import { type Decision, refuse } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';

/**
 * Data whose members are gone, as those of a resource that was deleted and applied again, say nothing of an image: the
 * one of the spec would be taken for all rules. Nothing is made of it where the installation does not list it.
 *
 * A birth that another invocation began goes on with what that recorded.
 */
export function withoutUnlistedImage(decision: Decision | undefined, { effective }: Situation): Decision | undefined {
  const { unfit, inputs } = effective;
  if (!unfit || decision?.kind !== 'act' || !('inputs' in decision.action)) return decision;
  if (decision.action.inputs.image?.repository !== inputs.image?.repository) return decision;
  return refuse(unfit.reason, unfit.message, unfit.cure);
}
