import type { RefusalReason } from '../../../reasons/refusals.ts';
import { ofMembers } from '../../../reasons/waits.ts';

/**
 * Why a member is not healthy: a reason for machines and a message for people.
 *
 * `passing` ailments cure themselves (a pod that starts); the others need a person. So does a passing one that has
 * lasted for the grace period of a member (`personsAilment`).
 */
export type PassingReason = keyof typeof ofMembers;

export type Ailment = (
  | { readonly passing: true; readonly reason: PassingReason }
  | { readonly passing: false; readonly reason: RefusalReason }
) & { readonly message: string; readonly cure: string };

export function isPassing(ailment: Ailment): ailment is Extract<Ailment, { passing: true }> {
  return ailment.passing;
}

/**
 * @param cure where there is a better one than that of its reason. Empty where something else is told a moment later,
 * or another rule knows when it has lasted.
 */
export function passing(reason: PassingReason, message: string, cure: string = ofMembers[reason]): Ailment {
  return { reason, message, passing: true, cure };
}

export function lasting(reason: RefusalReason, message: string, cure: string): Ailment {
  return { reason, message, passing: false, cure };
}
