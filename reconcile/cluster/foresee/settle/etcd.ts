import { formatVersion, isVersion, parseVersion } from '../../../../manifests/api/version.ts';
import type { EndpointStatus, ListedMember } from '../../../interfaces/etcd.ts';
import { statusesOf } from '../../know/adoption/inherited.ts';
import { isRefusing } from '../../know/certificates/stranger.ts';
import type { Membership, Observation, Slot } from '../../know/observation.ts';
import type { Effect } from '../effect.ts';
import { lastSaid, rememberingTheList } from '../knowledge.ts';
import { falls, leaderless, serves } from './endpoints.ts';
import { unheard, whoConnect } from './handshakes.ts';
import { listOf, memberIn, published } from './member-list.ts';

/** Members that run find each other; if they are a quorum they elect a leader, publish their names and catch up. */
export const runEtcd: Effect = (observation) => {
  if (!canBeAsked(observation)) return observation;
  const list = listOf(observation);
  if (!list) return withoutQuorum(observation);
  const running = observation.slots.flatMap((slot) => {
    const member = runs(slot) ? memberIn(slot, list.members) : undefined;
    return member ? [{ slot, member }] : [];
  });
  const voters = list.members.filter(({ isLearner }) => !isLearner);
  const others = othersIn(observation, voters);
  const isQuorum = (some: readonly Member[]) => (votersAmong(some).length + others.length) * 2 > voters.length;
  const connected = whoConnect(observation, running).find(isQuorum);
  if (!connected) return withoutQuorum(observation);

  const serving = votersAmong(connected);
  const leader = leaderAmong(serving, others);
  const members = published(list.members, running);
  const told = [...connected, ...others].every((one) => 'slot' in one && isRefusing(one.slot))
    ? unheard(observation)
    : withMembership(observation, { kind: 'known', clusterId: list.clusterId, members });
  const index = newestIn(observation);
  const data = dataOf(list.clusterId, serving);
  const slots = told.slots.map((slot) => {
    const found = connected.find((one) => one.slot.name === slot.name);
    if (found) return serves(slot, found.member, { ...list, leader, index, data });
    return running.some((one) => one.slot.name === slot.name) ? leaderless(slot) : falls(slot);
  });
  const answered = slots.every((slot, at) => slot === told.slots[at]) ? told : { ...told, slots };
  return moveVersion(answered);
};

function votersAmong(some: readonly Member[]): readonly Member[] {
  return some.filter(({ member }) => !member.isLearner);
}

/** With what we show them. */
function canBeAsked({ certificates }: Observation): boolean {
  if (certificates.kind !== 'read') return certificates.kind !== 'unknown';
  return certificates.leaves.every(({ plan, facts }) => plan.purpose !== 'reconciler' || facts !== undefined);
}

function runs({ pod, volume }: Slot): boolean {
  return pod?.container.state === 'running' && !pod.leaving && volume !== undefined && !volume.lost;
}

interface Member {
  readonly slot: Slot;
  readonly member: ListedMember;
}

/** Voters of a cluster that is taken over run on, whatever becomes of ours. */
function othersIn({ inherited = [] }: Observation, voters: readonly ListedMember[]): readonly EndpointStatus[] {
  return statusesOf({ inherited }).filter(({ memberId }) => voters.some(({ id }) => id === memberId));
}

/** The present leader stays; else the one with the most of raft's log. */
function leaderAmong(serving: readonly Member[], others: readonly EndpointStatus[]): string {
  const told = serving.flatMap(({ slot }) => (slot.endpoint.kind === 'known' ? slot.endpoint.status.leader : []));
  const named = [...told, ...others.map(({ leader }) => leader)];
  const stays = others.find(({ memberId }) => named.includes(memberId));
  if (stays) return stays.memberId;
  const leading = serving.find(({ member }) => named.includes(member.id));
  if (leading) return leading.member.id;
  const [best] = serving.toSorted(
    (a, b) => Number(appliedBy(b.slot) - appliedBy(a.slot)) || (a.member.id < b.member.id ? -1 : 1),
  );
  return best?.member.id ?? '0';
}

function appliedBy({ endpoint }: Slot): bigint {
  return endpoint.kind === 'known' ? endpoint.status.raftAppliedIndex : 0n;
}

function newestIn({ slots, inherited = [] }: Observation): bigint {
  const all = [...slots, ...inherited];
  const indices = all.map(({ endpoint }) => (endpoint.kind === 'known' ? endpoint.status.raftIndex : 0n));
  return indices.reduce((newest, index) => (index > newest ? index : newest), 1n);
}

function withMembership(observation: Observation, membership: Extract<Membership, { kind: 'known' }>): Observation {
  const before = observation.membership;
  const isSame = before.kind === 'known' && before.members === membership.members;
  return isSame ? observation : { ...observation, membership };
}

/** Every member has the same: one that comes has what the others have, and one that comes back what it had. */
function dataOf(clusterId: string, serving: readonly Member[]): EndpointStatus | undefined {
  const known = serving.flatMap(({ slot: { endpoint } }) => (endpoint.kind === 'known' ? [endpoint.status] : []));
  const said = serving.flatMap(({ slot }) => lastSaid(slot.endpoint) ?? []);
  return [...known, ...said].find((status) => status.clusterId === clusterId);
}

/** No member reports the list, and those that still answer know no leader. etcd itself forgets nothing. */
function withoutQuorum(observation: Observation): Observation {
  const { membership } = observation;
  const slots = observation.slots.map((slot) => (runs(slot) ? leaderless(slot) : falls(slot)));
  const isSame = slots.every((slot, at) => slot === observation.slots[at]);
  if (membership.kind === 'unknown') return isSame ? observation : { ...observation, slots };
  const answers = slots.some(({ endpoint }) => endpoint.kind === 'known');
  const unknown: Membership = {
    kind: 'unknown',
    cause: answers ? 'no quorum answers' : 'no member runs',
    ...(answers && { last: membership.members }),
  };
  return rememberingTheList({ ...observation, slots, membership: unknown }, membership);
}

/** etcd moves it up when all members run a higher minor, and never back. */
function moveVersion(observation: Observation): Observation {
  const { membership, slots, clusterVersion } = observation;
  if (membership.kind === 'unknown') return observation;
  const all = [...slots, ...(observation.inherited ?? [])];
  const running = membership.members.map(({ id }) => {
    const slot = all.find(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.memberId === id);
    return slot?.endpoint.kind === 'known' ? slot.endpoint.status.version : undefined;
  });
  const known = running.filter(isVersion).map(parseVersion);
  const lowest = known.toSorted((a, b) => a.major - b.major || a.minor - b.minor)[0];
  if (!lowest) return observation;
  const text = formatVersion({ ...lowest, patch: 0 });
  if (clusterVersion === undefined) return { ...observation, clusterVersion: text };
  const now = isVersion(clusterVersion) ? parseVersion(clusterVersion) : lowest;
  const isHigher = lowest.major > now.major || (lowest.major === now.major && lowest.minor > now.minor);
  return isHigher && known.length === running.length ? { ...observation, clusterVersion: text } : observation;
}
