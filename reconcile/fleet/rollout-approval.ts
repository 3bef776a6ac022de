import { type ApprovalAsked, longestFleetApprovalText } from '../../manifests/api/approval.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isSame, type RefusedApproval } from '../objects/approvals.ts';
import { refusedApprovals } from './four-eyes.ts';
import { shaOf } from './reading.ts';
import type { ClusterVerdict } from './roll-up.ts';

/** A halted rollout goes on with the commit that was applied last where a person approved that, and with no other. */

const annotation = annotations.resumeRollout;

interface Given {
  readonly counts: boolean;
  readonly refused?: RefusedApproval | undefined;
}

function givenFor(fleet: EtcdFleet, applied: string): Given {
  const approval = { annotation, value: shaOf(applied) };
  if (fleet.metadata.annotations?.[annotation] !== approval.value) return { counts: false };
  const refused = refusedApprovals(fleet, fleet, { revision: applied }).find((one) => isSame(one, approval));
  return { counts: refused === undefined, refused };
}

/** Whether nothing is to halt the rollout of the commit that was applied last. */
export function isResumed(fleet: EtcdFleet): boolean {
  const applied = fleet.status?.revision?.applied;
  return applied !== undefined && givenFor(fleet, applied).counts;
}

/** What a person may approve while a rollout is halted. @param applied the revision that was applied last */
export function rolloutApproval(
  fleet: EtcdFleet,
  applied: string | undefined,
  clusters: readonly ClusterVerdict[],
): ApprovalAsked | undefined {
  const halted = clusters.find(({ isHalted }) => isHalted);
  if (!halted || applied === undefined) return undefined;
  const { counts, refused } = givenFor(fleet, applied);
  if (counts) return undefined;
  const approves = `clusters that have not begun take commit ${shaOf(applied)} all the same; ${halted.namespace}/${halted.name}: ${halted.message}`;
  return {
    reason: 'RolloutHalted',
    annotation,
    value: shaOf(applied),
    approves: approves.slice(0, longestFleetApprovalText),
    loses: 'nothing by itself: what hurts where the commit is may hurt each cluster that takes it',
    ...(refused && { refused: refused.why.slice(0, longestFleetApprovalText) }),
  };
}
