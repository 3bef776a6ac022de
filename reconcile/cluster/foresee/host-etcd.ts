import { hashOf } from '../../../manifests/render/inputs-hash.ts';
import type { ListedMember } from '../../interfaces/etcd.ts';
import { refusedByEtcd, unreachable } from '../../requests/refusals.ts';
import { logSeen } from '../act/requests/before-recovery.ts';
import type { EtcdHost } from '../act/requests/host.ts';
import type { Endpoint, Observation } from '../know/observation.ts';
import { isReachable } from '../observe/ask-etcd.ts';
import { advanced } from './host-space.ts';

/**
 * etcd as a plan knows it: what its members said, and what becomes of its list. It refuses as etcd does, as far as that
 * is observed.
 */
export const observedEtcd: EtcdHost<Observation> = {
  list: ({ membership }) => (membership.kind === 'known' ? membership : undefined),
  members: (state) =>
    answersIn(state).map(({ name, status: { memberId, clusterId, leader, revision } }) => ({
      ...{ name, memberId, clusterId, leader, revision: String(revision) },
    })),
  silent: ({ slots }) =>
    slots.flatMap((slot) => (slot.endpoint.kind === 'unknown' && isReachable(slot) ? [slot.name] : [])),
  hasQuorum: ({ membership }) => membership.kind === 'known',
  logs: ({ slots }) =>
    slots.flatMap(({ endpoint }) => {
      const told = endpoint.kind === 'known' ? endpoint.status : endpoint.metrics;
      return told ? [logSeen(told)] : [];
    }),
  version: ({ clusterVersion }) => clusterVersion,
  // An ID is made of the address and the moment.
  add: (state, clusterId, { url }) => {
    const listed = listedIn(state, clusterId);
    if (listed.some(({ peerURLs }) => peerURLs.includes(url)))
      throw refusedByEtcd('PeerUrlExists', `a member has the address ${url} already`);
    if (listed.some(({ isLearner }) => isLearner)) throw refusedByEtcd('TooManyLearners', 'there is a learner already');
    const id = hashOf({ url, at: state.at.getTime(), members: listed.map((member) => member.id) }).slice(0, 16);
    const learner = { id: id.replace(/^0+/, '1'), name: '', peerURLs: [url], clientURLs: [], isLearner: true };
    return withMembers(state, [...listed, learner]);
  },
  promote: (state, clusterId, memberId) => {
    const listed = listedIn(state, clusterId);
    if (!listedAs(memberId, listed).isLearner) throw refusedByEtcd('NotALearner', `member ${memberId} is no learner`);
    if (!answers(state, memberId)) throw refusedByEtcd('NotInSync', `member ${memberId} does not run`);
    const members = listed.map((member) => (member.id === memberId ? { ...member, isLearner: false } : member));
    return onAnswers(withMembers(state, members), memberId, { isLearner: false });
  },
  remove: (state, clusterId, memberId) => {
    const listed = listedIn(state, clusterId);
    listedAs(memberId, listed);
    if (leads(state, memberId)) throw refusedByEtcd('IsLeader', `member ${memberId} leads`);
    const members = listed.filter(({ id }) => id !== memberId);
    return withoutHash(memberId, withMembers(state, members));
  },
  moveLeader: (state, clusterId, to) => {
    if (state.membership.kind === 'unknown' && observedEtcd.members(state).length > 0)
      throw refusedByEtcd('NotLeader', 'no member that answers leads');
    const target = listedIn(state, clusterId).find(({ id }) => id === to);
    if (!target || target.isLearner) throw refusedByEtcd('BadTransferee', `member ${to} is no voter`);
    return onAnswers(state, undefined, { leader: to });
  },
  advance: (state, index) => advanced(state, BigInt(index)),
};

/** What the cluster that is meant has on its list. */
function listedIn({ membership }: Observation, clusterId: string): readonly ListedMember[] {
  if (membership.kind === 'unknown') throw unreachable();
  if (membership.clusterId !== clusterId)
    throw refusedByEtcd('ClusterIdMismatch', `etcd cluster ${membership.clusterId} answers, and not ${clusterId}`);
  return membership.members;
}

function listedAs(memberId: string, listed: readonly ListedMember[]): ListedMember {
  const found = listed.find(({ id }) => id === memberId);
  if (!found) throw refusedByEtcd('MemberNotFound', `member ${memberId} is not on the list`);
  return found;
}

function answersIn({ slots, inherited = [] }: Observation) {
  const all = [...slots, ...inherited.map(({ memberId, endpoint }) => ({ name: memberId, endpoint }))];
  return all.flatMap(({ name, endpoint }) => (endpoint.kind === 'known' ? [{ name, status: endpoint.status }] : []));
}

function answers(state: Observation, memberId: string): boolean {
  return answersIn(state).some(({ status }) => status.memberId === memberId);
}

/** As it says itself: another one may not have heard yet that it does not lead any more. */
function leads(state: Observation, memberId: string): boolean {
  return answersIn(state).some(({ status }) => status.memberId === memberId && status.leader === memberId);
}

function withMembers(observation: Observation, members: readonly ListedMember[]): Observation {
  const { membership } = observation;
  return membership.kind === 'known' ? { ...observation, membership: { ...membership, members } } : observation;
}

/** What members that answer say from now on: all of them, or one. */
function onAnswers(
  observation: Observation,
  memberId: string | undefined,
  said: { readonly leader?: string; readonly isLearner?: boolean },
): Observation {
  const saying = <T extends { readonly endpoint: Endpoint }>(one: T): T => {
    const { endpoint } = one;
    if (endpoint.kind === 'unknown' || (memberId !== undefined && endpoint.status.memberId !== memberId)) return one;
    return { ...one, endpoint: { kind: 'known', status: { ...endpoint.status, ...said } } };
  };
  const { slots, inherited } = observation;
  return { ...observation, slots: slots.map(saying), ...(inherited && { inherited: inherited.map(saying) }) };
}

/** A member that is none any more is not asked what it holds. */
function withoutHash(gone: string, observation: Observation): Observation {
  const { hashes } = observation;
  if (!hashes?.answers.some(({ memberId }) => memberId === gone)) return observation;
  return { ...observation, hashes: { ...hashes, answers: hashes.answers.filter(({ memberId }) => memberId !== gone) } };
}
