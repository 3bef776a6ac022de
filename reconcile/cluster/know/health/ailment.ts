import type { RefusalReason } from '../../../reasons/refusals.ts';
/**
 * Why a member is not healthy: a reason for machines and a message for people.
 *
 * `passing` ailments cure themselves (a pod that starts); the others need a person. A passing one with a cure needs a
 * person, too, when it has lasted for the grace period of a member (`personsAilment`).
 */
export interface Ailment {
  readonly reason: RefusalReason;
  readonly message: string;
  readonly passing: boolean;
  readonly cure: string;
}

export function passing(reason: RefusalReason, message: string): Ailment {
  return { reason, message, passing: true, cure: '' };
}

export function lasting(reason: RefusalReason, message: string, cure: string): Ailment {
  return { reason, message, passing: false, cure };
}
