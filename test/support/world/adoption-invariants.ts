import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { existingOf } from '../../../manifests/api/existing-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { approvalOfAdoption } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { hasQuorum } from './quorum.ts';
import type { State } from './state.ts';

/**
 * I13, when a removal arrives: exactly this member of exactly this cluster was approved to leave. etcd takes no
 * precondition, so a removal that was sent before the EtcdCluster was deleted may arrive after that.
 */
export function assertOthersLeaveAsApproved(state: State, clusterId: string, memberId: string): void {
  const formation = state.formations.get(clusterId);
  if (!formation?.others?.includes(memberId)) return;
  noteApprovals(state);
  if (!formation.approvedToLeave?.includes(memberId))
    state.violations.push(`I13: ${memberId} of ${clusterId} is removed, and no person approved that`);
}

function noteApprovals(state: State): void {
  for (const cluster of state.kube.stored<EtcdCluster>(resources.clusters)) {
    const existing = existingOf(cluster);
    const formation = existing && state.formations.get(existing.clusterID);
    if (!existing || !formation?.others) continue;
    const isApproved = cluster.metadata.annotations?.[annotations.adopt] === approvalOfAdoption(existing);
    formation.approvedToLeave = isApproved ? existing.memberIDs : [];
  }
}

/** I1 and I13: what others made has a quorum for as long as none of its members was stopped on purpose. */
export function assertOthersServe(state: State): void {
  noteApprovals(state);
  if (!state.watchful) return;
  for (const [clusterId, { others }] of state.formations) {
    if (others && !hasQuorum(state, clusterId)) state.violations.push(`I13: ${clusterId} has lost its quorum`);
  }
}
