import {
  askMember,
  askMembers,
  moveLeader,
  requireAgreement,
} from '../../../reconcile/cluster/act/requests/leadership.ts';
import { askMayGoBackTo } from '../../../reconcile/cluster/act/requests/versions.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { Contracts } from './contract.ts';
import { member } from './members.ts';
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
import type { Scene } from './scene.ts';

function moved(seen: Observation, memberId: string, { clusterId } = listIn(seen)) {
  return moveLeader({ name, memberId, clusterId });
}

function agreed(seen: Observation, more: readonly string[] = []) {
  const leader = idOf(seen, 'leader');
  const { clusterId, members } = listIn(seen);
  const others = members.flatMap(({ id, isLearner }) => (isLearner || id === leader ? [] : [id]));
  const [endpoint] = seen.slots.flatMap((slot) => (slot.endpoint.kind === 'known' ? [slot.endpoint.status] : []));
  const revision = String(endpoint?.revision ?? 1n);
  return requireAgreement({
    clusterId,
    revision,
    memberIds: [...others, ...more],
    against: { name, memberId: leader },
  });
}

async function asleep(scene: Scene): Promise<void> {
  for (const ordinal of [0, 1, 2]) await member(scene, { ordinal });
}

export const leadership = {
  askMembers: onEachMinor((version) => [
    { when: 'all answer', start: steady(version), asks: () => askMembers({}) },
    { when: 'none answers', start: silent, asks: () => askMembers({}) },
    { when: 'none runs', asks: () => askMembers({}) },
  ]),
  askMember: onEachMinor((version) => [
    { when: 'it answers', start: steady(version), asks: () => askMember({ name }) },
    { when: 'it does not run', asks: () => askMember({ name }) },
    {
      when: 'it does not answer',
      start: silent,
      asks: () => askMember({ name }),
      refused: 'retryable EtcdUnreachable',
    },
  ]),
  moveLeader: onEachMinor((version) => [
    {
      when: 'another voter is to lead',
      ...changing(version, 'with two voters'),
      asks: (seen) => moved(seen, idOf(seen, 'follower')),
    },
    { when: 'it leads already', start: steady(version), asks: (seen) => moved(seen, idOf(seen, 'leader')) },
    {
      when: 'it is a learner',
      start: steady(version),
      asks: (seen) => moved(seen, idOf(seen, 'learner')),
      refused: 'precondition BadTransferee',
    },
    {
      when: 'it is not on the list',
      start: steady(version),
      asks: (seen) => moved(seen, unknownMember),
      refused: 'precondition BadTransferee',
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => moved(seen, idOf(seen, 'follower'), { clusterId: wrongCluster, members: [] }),
      refused: 'precondition ClusterIdMismatch',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => moved(seen, unknownMember),
      refused: 'precondition NotLeader',
    },
    {
      when: 'no member answers',
      start: silent,
      asks: (seen) => moved(seen, unknownMember),
      refused: 'retryable EtcdUnreachable',
    },
  ]),
  requireAgreement: onEachMinor((version) => [
    { when: 'all hold the same', start: steady(version), asks: (seen) => agreed(seen) },
    {
      when: 'one of those that agreed does not answer',
      start: steady(version),
      asks: (seen) => agreed(seen, [unknownMember]),
      refused: 'precondition WorldMoved',
    },
  ]),
  askMayGoBackTo: onEachMinor((version) => [
    { when: 'it is what runs there', start: steady(version), asks: () => askMayGoBackTo({ version }) },
    { when: 'it is lower than anything', start: steady(version), asks: () => askMayGoBackTo({ version: '3.4.0' }) },
    { when: 'none runs, and it is what they ran', start: asleep, asks: () => askMayGoBackTo({ version: '3.6.16' }) },
    { when: 'none runs, and they ran a higher one', start: asleep, asks: () => askMayGoBackTo({ version: '3.5.35' }) },
  ]),
} as const satisfies Readonly<Record<string, Contracts>>;
