import { isSame } from '../../objects/approvals.ts';
import { type Decision, type Refused, refusalsOf, refuse } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';

/** An approval that is asked for, and there, and does not count: the person that gave it reads why. */
export function withFourEyes(decision: Decision, situation: Situation): Decision {
  const { refusedApprovals = [], effective } = situation;
  if (refusedApprovals.length === 0) return decision;
  const asked = [...refusalsOf(decision), ...effective.refusals].flatMap(({ approval }) => approval ?? []);
  const missing = refusedApprovals.flatMap((given): readonly Refused[] => {
    if (!asked.some((one) => isSame(one, given))) return [];
    const { annotation, why, cure } = given;
    return [refuse('FourEyesMissing', `the approval ${annotation} is given and does not count: ${why}`, cure)];
  });
  return missing.length === 0 ? decision : { ...decision, besides: [...(decision.besides ?? []), ...missing] };
}
