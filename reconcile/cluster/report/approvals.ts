import { type ApprovalAsked, longestApprovalText } from '../../../manifests/api/approval.ts';
import { fitted, isSame } from '../../objects/approvals.ts';
import { type Decision, refusalsOf } from '../know/decision.ts';
import type { Situation } from '../know/situation.ts';

/** All that a person may approve now: what the decision asks for, what it passed over, and what the spec wants. */
export function approvalsAsked(
  decision: Decision,
  { effective, refusedApprovals = [] }: Pick<Situation, 'effective' | 'refusedApprovals'>,
): readonly ApprovalAsked[] {
  const asked = [...refusalsOf(decision), ...effective.refusals].flatMap(({ reason, approval }): ApprovalAsked[] => {
    if (!approval) return [];
    const given = refusedApprovals.find((one) => isSame(one, approval));
    return [fitted({ reason, ...approval, ...(given && { refused: given.why }) }, longestApprovalText)];
  });
  return [...new Map(asked.map((one) => [`${one.annotation}=${one.value}`, one])).values()];
}
