import type { Approval } from '../../../../manifests/api/approval.ts';
import { type ExistingCluster, existingOf } from '../../../../manifests/api/existing-cluster.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import type { EndpointStatus, ListedMember } from '../../../interfaces/etcd.ts';
import { timestamp } from '../../../time/timestamp.ts';
import type { Observation } from '../observation.ts';
import type { ExistingPod } from './existing-pod.ts';

/**
 * Members of a cluster that the spec asks to take over (`spec.bootstrap.existing`): voters without an EtcdPeer, which
 * etcd-ratchet neither made nor restarts. They are known by the IDs in the spec or the status, and by nothing else.
 */
export interface Inherited {
  readonly member: ListedMember;
  /** What it said of itself; absent: it does not answer. */
  readonly status?: EndpointStatus;
  /** The pod that answers for it. */
  readonly pod?: ExistingPod;
}

type Seen = Pick<Observation, 'membership'> & Partial<Pick<Observation, 'inherited'>>;

/** Those that are still on the list. */
export function inheritedIn({ membership, inherited = [] }: Seen): readonly Inherited[] {
  if (membership.kind === 'unknown') return [];
  return inherited.flatMap(({ memberId, endpoint, pod }) => {
    const member = membership.members.find(({ id }) => id === memberId);
    if (!member) return [];
    const isSame = endpoint.kind === 'known' && endpoint.status.memberId === memberId;
    return [{ member, ...(isSame && { status: endpoint.status }), ...(pod && { pod }) }];
  });
}

/** It answers, follows a leader, and complains of nothing. */
export function isWell({ status }: Inherited): boolean {
  return status !== undefined && status.leader !== '0';
}

export function namesOf(inherited: readonly Inherited[]): string {
  return inherited.map(({ member }) => member.name || member.id).join(', ');
}

export function statusesOf(seen: Partial<Pick<Observation, 'inherited'>>): readonly EndpointStatus[] {
  return (seen.inherited ?? []).flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status] : []));
}

/** Whether an adoption is under way, or may be: then members of ours hold up a quorum that others rely on. */
export function isAdopting(seen: Pick<Observation, 'cluster' | 'at'> & Seen): boolean {
  if (seen.membership.kind === 'known') return inheritedIn(seen).length > 0;
  return existingInDoubt(seen) !== undefined;
}

/** Where no list is known, an adoption may be under way until a person approves that the others are gone for good. */
export function existingInDoubt(
  seen: Pick<Observation, 'cluster' | 'at'> & Pick<Seen, 'membership'>,
): ExistingCluster | undefined {
  const { cluster, membership } = seen;
  const existing = existingOf(cluster);
  if (!existing || membership.kind === 'known') return undefined;
  if (approvalIn(seen) === goneForGood(existing, seen).value) return undefined;
  const isNone = membership.last && !membership.last.some(({ id }) => existing.memberIDs.includes(id));
  return isNone ? undefined : existing;
}

/** What a person approves: that exactly these members of exactly this etcd cluster leave it, for ever. */
export function approvalOfAdoption({ clusterID, memberIDs }: ExistingCluster): string {
  return `${clusterID}/${hashOf({ clusterID, members: memberIDs.toSorted() }).slice(0, 12)}`;
}

export function isAdoptionApproved(seen: Pick<Observation, 'cluster'>): boolean {
  const existing = existingOf(seen.cluster);
  return existing !== undefined && approvalIn(seen) === approvalOfAdoption(existing);
}

/**
 * Of others that may serve where they are not seen from here: only a person can say that they never will again. Once a
 * list was seen that has them or not, that is asked anew: an approval that was not needed fits no later outage.
 */
export function goneForGood(existing: ExistingCluster, seen: Pick<Observation, 'cluster' | 'at'>): Approval {
  const { clusterID, memberIDs } = existing;
  const members = memberIDs.toSorted();
  const since = unknownSince(seen);
  return {
    annotation: annotations.adopt,
    value: `${clusterID}/gone-${hashOf({ gone: clusterID, members, since }).slice(0, 12)}`,
    approves: `the members ${memberIDs.join(', ')} of etcd cluster ${clusterID} are gone for good, and ${seen.cluster.metadata.name} waits for them no more`,
    loses: `if one of them still runs, it serves a cluster of its own or loses its quorum, with every write that ours do not have`,
  };
}

/** At its first look the status does not say it yet, and will say this. */
export function unknownSince({ cluster, at }: Pick<Observation, 'cluster' | 'at'>): string {
  return cluster.status?.existingUnknownSince ?? timestamp(at);
}

function approvalIn({ cluster }: Pick<Observation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.adopt];
}
