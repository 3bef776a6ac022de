import { type ApprovalAsked, longestApprovalText } from '../../../manifests/api/approval.ts';
import { isSame } from '../../objects/approvals.ts';
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
    return [
      {
        reason,
        ...approval,
        approves: approval.approves.slice(0, longestApprovalText),
        loses: approval.loses.slice(0, longestApprovalText),
        ...(given && { refused: given.why.slice(0, longestApprovalText) }),
      },
    ];
  });
  return [...new Map(asked.map((one) => [`${one.annotation}=${one.value}`, one])).values()];
}
