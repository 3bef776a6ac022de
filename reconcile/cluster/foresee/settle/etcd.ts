import { formatVersion, isVersion, parseVersion } from '../../../../manifests/api/version.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { EndpointStatus, ListedMember } from '../../../etcd.ts';
import { isRefusing } from '../../know/certificates/stranger.ts';
import { memberOf, urlOf } from '../../know/health.ts';
import { statusesOf } from '../../know/inherited.ts';
import { hasDeparted, recordOf } from '../../know/life.ts';
import type { Endpoint, Membership, Observation, Slot } from '../../know/observation.ts';
import type { Effect } from '../effect.ts';
import { lastSaid, rememberedList, rememberingTheList, silenced, templateOf } from '../knowledge.ts';
import { unheard, whoConnect } from './handshakes.ts';

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

interface List {
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
}

/** As etcd has it, or, before any member could answer, as the volumes remember it. */
function listOf(observation: Observation): List | undefined {
  const { membership, slots } = observation;
  const remembered = rememberedList(observation);
  if (remembered || membership.kind === 'known') return remembered;
  const recorded = slots.flatMap((slot) => {
    const record = recordOf(slot);
    return record && !hasDeparted(slot) ? [{ slot, record }] : [];
  });
  const [first] = recorded;
  if (!first) return undefined;
  const { token, initialCluster } = first.record;
  const clusterId = recorded.find(({ record }) => record.clusterId)?.record.clusterId ?? idOf(token, initialCluster);
  if (membership.last) return { clusterId, members: membership.last };
  const isBirth = recorded.some(({ record }) => record.state === 'bootstrapping' || record.state === 'restored');
  const members = isBirth
    ? initialCluster.map(({ name, url }) => {
        const known = recorded.find(({ slot }) => slot.name === name)?.record.memberId;
        return listed(known ?? idOf(token, url), '', url);
      })
    : recorded.flatMap(({ slot, record }) =>
        record.memberId === undefined || record.state === 'joining'
          ? []
          : [listed(record.memberId, slot.name, urlOf(slot) ?? '')],
      );
  return { clusterId, members };
}

function listed(id: string, name: string, url: string): ListedMember {
  return { id, name, peerURLs: [url], clientURLs: [], isLearner: false };
}

/** As etcd writes IDs. */
function idOf(...of: readonly unknown[]): string {
  return hashOf(of).slice(0, 16).replace(/^0+/, '1');
}

function runs({ pod, volume }: Slot): boolean {
  return pod?.container.state === 'running' && !pod.leaving && volume !== undefined && !volume.lost;
}

/** A member that was never seen has no ID on its volume yet. */
function memberIn(slot: Slot, members: readonly ListedMember[]): ListedMember | undefined {
  const found = memberOf(slot, members);
  if (found || recordOf(slot)?.memberId !== undefined) return found;
  const url = urlOf(slot);
  return members.find(({ peerURLs }) => url !== undefined && peerURLs.includes(url));
}

interface Member {
  readonly slot: Slot;
  readonly member: ListedMember;
}
type Running = readonly Member[];

/** Voters of a cluster that is taken over run on, whatever becomes of ours. */
function othersIn({ inherited = [] }: Observation, voters: readonly ListedMember[]): readonly EndpointStatus[] {
  return statusesOf({ inherited }).filter(({ memberId }) => voters.some(({ id }) => id === memberId));
}

/** The present leader stays; else the one with the most of raft's log. */
function leaderAmong(serving: Running, others: readonly EndpointStatus[]): string {
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

function published(members: readonly ListedMember[], running: Running): readonly ListedMember[] {
  const nameOf = (id: string) => running.find(({ member }) => member.id === id)?.slot.name;
  if (members.every(({ id, name }) => name !== '' || nameOf(id) === undefined)) return members;
  return members.map((member) => (member.name === '' ? { ...member, name: nameOf(member.id) ?? '' } : member));
}

function withMembership(observation: Observation, membership: Extract<Membership, { kind: 'known' }>): Observation {
  const before = observation.membership;
  const isSame = before.kind === 'known' && before.members === membership.members;
  return isSame ? observation : { ...observation, membership };
}

interface Quorum {
  readonly clusterId: string;
  readonly leader: string;
  readonly index: bigint;
  readonly data: EndpointStatus | undefined;
}

/** Every member has the same: one that comes has what the others have, and one that comes back what it had. */
function dataOf(clusterId: string, serving: Running): EndpointStatus | undefined {
  const known = serving.flatMap(({ slot: { endpoint } }) => (endpoint.kind === 'known' ? [endpoint.status] : []));
  const said = serving.flatMap(({ slot }) => lastSaid(slot.endpoint) ?? []);
  return [...known, ...said].find((status) => status.clusterId === clusterId);
}

/** Is Ready, unless it is a learner, which never is; and answers, unless the TLS handshake fails. */
function serves(slot: Slot, { id, isLearner }: ListedMember, quorum: Quorum): Slot {
  const { pod, endpoint } = slot;
  if (!pod) return slot;
  const answers =
    endpoint.kind === 'unknown' && endpoint.tls !== undefined ? endpoint : answer(slot, id, isLearner, quorum);
  const ready = !isLearner;
  if (answers === endpoint && pod.ready === ready) return slot;
  return { ...slot, endpoint: answers, pod: pod.ready === ready ? pod : { ...pod, ready } };
}

function answer(slot: Slot, memberId: string, isLearner: boolean, quorum: Quorum): Endpoint {
  const { clusterId, leader, index, data } = quorum;
  const before = slot.endpoint.kind === 'known' ? slot.endpoint.status : undefined;
  const version = slot.pod?.version ?? templateOf(slot)?.version ?? recordOf(slot)?.version ?? '0.0.0';
  const status: EndpointStatus = {
    ...(before ?? data ?? fresh),
    memberId,
    clusterId,
    leader,
    version,
    isLearner,
    raftIndex: index,
    raftAppliedIndex: index,
  };
  const isSame =
    before !== undefined &&
    (Object.keys(status) as (keyof EndpointStatus)[]).every((key) => status[key] === before[key]);
  return isSame ? slot.endpoint : { kind: 'known', status };
}

const fresh = { raftTerm: 2n, revision: 1n, dbSize: 20480n, dbSizeInUse: 16384n, errors: [] as readonly string[] };

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

function leaderless(slot: Slot): Slot {
  const { pod, endpoint } = slot;
  const isTold = endpoint.kind === 'unknown' || endpoint.status.leader === '0';
  if (isTold && !pod?.ready) return slot;
  return {
    ...slot,
    ...(endpoint.kind === 'known' && { endpoint: { kind: 'known', status: { ...endpoint.status, leader: '0' } } }),
    ...(pod?.ready && { pod: { ...pod, ready: false } }),
  };
}

function falls(slot: Slot): Slot {
  const { pod, endpoint } = slot;
  if (endpoint.kind === 'unknown' && !pod?.ready) return slot;
  return {
    ...slot,
    endpoint: endpoint.kind === 'unknown' ? endpoint : silenced(endpoint, 'it does not answer any more'),
    ...(pod?.ready && { pod: { ...pod, ready: false } }),
  };
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
