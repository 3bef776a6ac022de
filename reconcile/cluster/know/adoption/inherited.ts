import type { ExistingCluster } from '../../../../manifests/api/existing-cluster.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import type { EndpointStatus, ListedMember } from '../../../interfaces/etcd.ts';
import type { Observation } from '../observation.ts';
import type { ExistingPod } from './existing-pod.ts';

/**
 * Members of a cluster that the spec asks to take over (`spec.bootstrap.existing`): voters without an EtcdPeer, which
 * etcd-ratchet neither made nor restarts. They are known by the IDs in the spec, and by nothing else.
 */
export interface Inherited {
  readonly member: ListedMember;
  /** What it said of itself; absent: it does not answer. */
  readonly status?: EndpointStatus;
  /** The pod that answers for it. */
  readonly pod?: ExistingPod;
}

type Seen = Pick<Observation, 'membership'> & Partial<Pick<Observation, 'inherited'>>;

export function existingOf({ cluster }: Pick<Observation, 'cluster'>): ExistingCluster | undefined {
  return cluster.spec.bootstrap?.existing;
}

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

/**
 * Whether an adoption is under way, or may be: then members of ours hold up a quorum that others rely on.
 *
 * Where no member even remembers the list, it may be for as long as the spec says so: that is why a person removes the
 * field afterwards.
 */
export function isAdopting(seen: Pick<Observation, 'cluster'> & Seen): boolean {
  if (seen.membership.kind === 'known') return inheritedIn(seen).length > 0;
  const existing = existingOf(seen);
  const { last } = seen.membership;
  return existing !== undefined && (!last || last.some(({ id }) => existing.memberIDs.includes(id)));
}

/** What a person approves: that exactly these members of exactly this etcd cluster leave it, for ever. */
export function approvalOfAdoption({ clusterID, memberIDs }: ExistingCluster): string {
  return `${clusterID}/${hashOf({ clusterID, members: memberIDs.toSorted() }).slice(0, 12)}`;
}

export function isAdoptionApproved(seen: Pick<Observation, 'cluster'>): boolean {
  const existing = existingOf(seen);
  return (
    existing !== undefined && seen.cluster.metadata.annotations?.[annotations.adopt] === approvalOfAdoption(existing)
  );
}
