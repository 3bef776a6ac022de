import { addToList, listMembers, promote, removeFromList } from '../../../reconcile/cluster/act/requests/membership.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { Contracts } from './contract.ts';
import {
  bereft,
  changing,
  idOf,
  listIn,
  name,
  onEachMinor,
  silent,
  steady,
  unknownMember,
  wrongCluster,
} from './running.ts';

const newUrl = 'http://127.9.9.9:7';

function added(seen: Observation, url = newUrl, { clusterId } = listIn(seen)) {
  return addToList({ clusterId, name: 'orders-5', url });
}

function about(seen: Observation, memberId: string, { clusterId } = listIn(seen)) {
  return { name, memberId, clusterId };
}

export const membership = {
  listMembers: onEachMinor((version) => [
    {
      when: 'a quorum answers',
      start: steady(version),
      asks: (seen) => listMembers({ clusterId: listIn(seen).clusterId }),
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: () => listMembers({ clusterId: wrongCluster }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: () => listMembers({ clusterId: wrongCluster }),
      refused: 'retryable EtcdDidNotAnswer',
    },
    {
      when: 'no member answers',
      start: silent,
      asks: () => listMembers({ clusterId: 'c1' }),
      refused: 'retryable EtcdUnreachable',
    },
  ]),
  addToList: onEachMinor((version) => [
    { when: 'there is no learner', ...changing(version, 'alone'), asks: (seen) => added(seen) },
    {
      when: 'there is a learner already',
      start: steady(version),
      asks: (seen) => added(seen),
      refused: 'precondition TooManyLearners',
    },
    {
      when: 'a member has that address already',
      start: steady(version),
      asks: (seen) => added(seen, listIn(seen).members[0]?.peerURLs[0]),
      refused: 'precondition PeerUrlExists',
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => added(seen, newUrl, { clusterId: wrongCluster, members: [] }),
      refused: 'precondition ClusterIdMismatch',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => added(seen),
      refused: 'retryable EtcdUnreachable',
    },
    { when: 'no member answers', start: silent, asks: (seen) => added(seen), refused: 'retryable EtcdUnreachable' },
  ]),
  promote: onEachMinor((version) => [
    {
      when: 'the learner is in sync',
      ...changing(version, 'with a learner in sync'),
      asks: (seen) => promote(about(seen, idOf(seen, 'learner'))),
    },
    {
      when: 'the learner never started',
      start: steady(version),
      asks: (seen) => promote(about(seen, idOf(seen, 'learner'))),
      refused: 'precondition NotInSync',
    },
    {
      when: 'it is a voter',
      start: steady(version),
      asks: (seen) => promote(about(seen, idOf(seen, 'follower'))),
      refused: 'precondition NotALearner',
    },
    {
      when: 'it is not on the list',
      start: steady(version),
      asks: (seen) => promote(about(seen, unknownMember)),
      refused: 'precondition MemberNotFound',
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => promote({ ...about(seen, idOf(seen, 'learner')), clusterId: wrongCluster }),
      refused: 'precondition ClusterIdMismatch',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => promote(about(seen, unknownMember)),
      refused: 'retryable EtcdUnreachable',
    },
    {
      when: 'no member answers',
      start: silent,
      asks: (seen) => promote(about(seen, unknownMember)),
      refused: 'retryable EtcdUnreachable',
    },
  ]),
  removeFromList: onEachMinor((version) => [
    {
      when: 'it is a learner that never started',
      ...changing(version, 'with a learner'),
      asks: (seen) => removeFromList(about(seen, idOf(seen, 'learner'))),
    },
    {
      when: 'it is a voter that does not lead',
      ...changing(version, 'with two voters'),
      asks: (seen) => removeFromList(about(seen, idOf(seen, 'follower'))),
      differs: {
        because: 'whether one that was removed still answers for a moment, before it ends, is a matter of time',
        not: ['left.leader'],
      },
    },
    {
      when: 'it leads',
      start: steady(version),
      asks: (seen) => removeFromList(about(seen, idOf(seen, 'leader'))),
      refused: 'precondition IsLeader',
    },
    {
      when: 'it is not on the list',
      start: steady(version),
      asks: (seen) => removeFromList(about(seen, unknownMember)),
      refused: 'precondition MemberNotFound',
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => removeFromList({ ...about(seen, idOf(seen, 'follower')), clusterId: wrongCluster }),
      refused: 'precondition ClusterIdMismatch',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => removeFromList(about(seen, unknownMember)),
      refused: 'retryable EtcdUnreachable',
    },
    {
      when: 'no member answers',
      start: silent,
      asks: (seen) => removeFromList(about(seen, unknownMember)),
      refused: 'retryable EtcdUnreachable',
    },
  ]),
} as const satisfies Readonly<Record<string, Contracts>>;
