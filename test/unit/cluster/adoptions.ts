import assert from 'node:assert/strict';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import type { InheritedView, Membership, Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { EndpointStatus, ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import {
  clusterId,
  type Differences,
  endpoint,
  healthy,
  members,
  silent,
  unborn,
  withEndpoint,
} from './observations.ts';

/** Observations of a cluster that takes over another one: `old-0` to `old-2`, which etcd-ratchet did not make. */

export const memberIDs = ['ed0', 'ed1', 'ed2'];
export const existing = { clusterID: clusterId, memberIDs, podLabels: { app: 'old' } };
const bootstrap = { existing };

export function others(change: Partial<ListedMember> = {}): readonly ListedMember[] {
  return memberIDs.map((id, n) => ({
    id,
    name: `old-${n}`,
    peerURLs: [`http://old-${n}.old.shop.svc:2380`],
    clientURLs: [],
    isLearner: false,
    ...(n === 0 && change),
  }));
}

/** @param change of what the first of the others says */
export function inherited(leader: string, change: Partial<EndpointStatus> | 'silent' = {}): readonly InheritedView[] {
  return memberIDs.map((memberId, n) => ({
    memberId,
    endpoint:
      n === 0 && change === 'silent'
        ? silent
        : endpoint(0, { memberId, leader, ...(n === 0 && change !== 'silent' && change) }),
  }));
}

export function beside(
  ours: number,
  { spec = {}, ...differences }: Differences = {},
  leader = memberIDs[2] ?? '',
): Observation {
  const list = members(ours);
  return {
    ...healthy(ours, {
      ...differences,
      spec: { bootstrap, ...spec },
      metadata: { finalizers: [volumesFinalizer], ...differences.metadata },
      membership: differences.membership ?? { ...list, members: [...list.members, ...others()] },
      every: (slot) =>
        differences.every?.(withEndpoint(endpoint(slot.ordinal, { leader }))(slot)) ??
        withEndpoint(endpoint(slot.ordinal, { leader }))(slot),
      shared: { disruptionBudget: { state: 'present', minAvailable: quorumOf(ours + 3) }, ...differences.shared },
    }),
    inherited: inherited(leader),
  };
}

export function before(spec: Partial<EtcdClusterSpec> = {}, list = others(), seen = inherited('ed2')): Observation {
  const membership: Membership = { kind: 'known', clusterId, members: list };
  const metadata = { finalizers: [volumesFinalizer] };
  const missing = { state: 'missing' } as const;
  const shared = {
    headlessService: missing,
    clientService: missing,
    disruptionBudget: missing,
    networkPolicy: missing,
  };
  return { ...unborn(3, { spec: { bootstrap, ...spec }, membership, metadata, shared }), inherited: seen };
}

export function approved(observation: Observation): Observation {
  const decision = decide(observation);
  assert.ok(decision.kind === 'refuse' && decision.approval, JSON.stringify(decision.reason));
  const { annotation, value } = decision.approval;
  assert.equal(annotation, annotations.adopt);
  const { cluster } = observation;
  const metadata = { ...cluster.metadata, annotations: { [annotation]: value } };
  return { ...observation, cluster: { ...cluster, metadata } };
}

/** A commit has removed what the spec said of the others; the status keeps it. */
export function forgetting(
  observation: Observation,
  bootstrap: EtcdClusterSpec['bootstrap'] = {},
  kept: typeof existing | undefined = existing,
): Observation {
  const { cluster } = observation;
  const status = { observedGeneration: 1, ...cluster.status, ...(kept && { existing: kept }) };
  return { ...observation, cluster: { ...cluster, status, spec: { ...cluster.spec, bootstrap } } };
}
