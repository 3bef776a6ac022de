import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { approvalOfAdoption, existingOf } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { hasQuorum } from './quorum.ts';
import type { State } from './state.ts';

/** I13, when a removal arrives: exactly this member of exactly this cluster was approved to leave. */
export function assertOthersLeaveAsApproved(state: State, clusterId: string, memberId: string): void {
  if (!state.formations.get(clusterId)?.others?.includes(memberId)) return;
  const isApproved = state.kube.stored<EtcdCluster>(resources.clusters).some((cluster) => {
    const existing = existingOf({ cluster });
    if (existing?.clusterID !== clusterId || !existing.memberIDs.includes(memberId)) return false;
    return cluster.metadata.annotations?.[annotations.adopt] === approvalOfAdoption(existing);
  });
  if (!isApproved) state.violations.push(`I13: ${memberId} of ${clusterId} is removed, and no person approved that`);
}

/** I1 and I13: what others made has a quorum for as long as none of its members was stopped on purpose. */
export function assertOthersServe(state: State): void {
  if (!state.watchful) return;
  for (const [clusterId, { others }] of state.formations) {
    if (others && !hasQuorum(state, clusterId)) state.violations.push(`I13: ${clusterId} has lost its quorum`);
  }
}
