/**
 * Why a member is not healthy, in a word for machines and one for people.
 *
 * `passing` ailments cure themselves (a pod that starts); the others need somebody. With a cure, also a passing one does when it has
 * not passed for the grace of a member (`personsAilment`).
 */
export interface Ailment {
  readonly reason: string;
  readonly message: string;
  readonly passing: boolean;
  readonly cure: string;
}

export function passing(reason: string, message: string): Ailment {
  return { reason, message, passing: true, cure: '' };
}

export function lasting(reason: string, message: string, cure: string): Ailment {
  return { reason, message, passing: false, cure };
}
