import type { ApprovalAsked } from '../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { annotations } from '../../manifests/render/names.ts';
import { isSame, type RefusedApproval } from '../objects/approvals.ts';
import { refusedApprovals } from './four-eyes.ts';
import { wholeRevision } from './outcome.ts';
import { shaOf } from './reading.ts';
import type { ClusterVerdict } from './roll-up.ts';

/** A halted rollout goes on with the commit that was applied last where a person approved that, and with no other. */

const annotation = annotations.resumeRollout;

interface Given {
  readonly counts: boolean;
  readonly refused?: RefusedApproval | undefined;
}

/** @param signers of commits that clusters of it do not do yet: they are authors of what is held up as well */
function givenFor(fleet: EtcdFleet, applied: string, signers: readonly string[]): Given {
  const approval = { annotation, value: shaOf(applied) };
  if (fleet.metadata.annotations?.[annotation] !== approval.value) return { counts: false };
  const all = refusedApprovals(fleet, fleet, { revision: applied, before: [...new Set(signers)] });
  const refused = all.find((one) => isSame(one, approval));
  return { counts: refused === undefined, refused };
}

/** Whether nothing is to halt the rollout of the commit that is applied. */
export function isResumed(fleet: EtcdFleet, clusters: readonly EtcdCluster[]): boolean {
  const applied = wholeRevision(fleet.status?.revision);
  const signers = clusters.flatMap(({ status }) => status?.signers ?? []);
  return applied !== undefined && givenFor(fleet, applied, signers).counts;
}

/** What a person may approve while a rollout is halted. @param revision as this pass leaves it */
export function rolloutApproval(
  fleet: EtcdFleet,
  revision: EtcdFleetStatus['revision'],
  clusters: readonly ClusterVerdict[],
): ApprovalAsked | undefined {
  const applied = wholeRevision(revision);
  const halted = clusters.find(({ isHalted }) => isHalted);
  if (!halted || applied === undefined) return undefined;
  const signers = clusters.flatMap(({ signers: of = [] }) => of);
  const { counts, refused } = givenFor(fleet, applied, signers);
  if (counts) return undefined;
  const approves = `clusters that have not begun take commit ${shaOf(applied)} all the same; ${halted.namespace}/${halted.name}: ${halted.message}`;
  return {
    reason: 'RolloutHalted',
    annotation,
    value: shaOf(applied),
    approves,
    loses: 'nothing by itself: what hurts where the commit is may hurt each cluster that takes it',
    ...(refused && { refused: refused.why }),
  };
}
