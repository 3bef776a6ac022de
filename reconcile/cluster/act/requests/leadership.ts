import type { EndpointStatus } from '../../../interfaces/etcd.ts';
import { unreachable } from '../../../requests/refusals.ts';
import { moved } from '../../know/outcome.ts';
import { requireOneHash } from '../same-data.ts';
import type { MemberSeen } from './host.ts';
import { defineRequest } from './request.ts';
import { requireAnswers } from './served.ts';

/** What each member reports, asked directly: which one leads, and how far it is. */

/** Of every member that answers. */
export const askMembers = defineRequest('askMembers', {
  words: () => 'asks every member for its leader and its revision',
  live: async (
    _: Record<string, never>,
    { etcd: { endpoints: ways }, etcdNow, signal },
  ): Promise<readonly MemberSeen[]> => {
    const { etcd } = await etcdNow();
    const asked = await Promise.allSettled(
      [...ways].map(async ([name, endpoint]) => memberSeen(name, await etcd.status(endpoint, { signal }))),
    );
    return asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  },
  model: (state, _, host) => ({ state, answer: host.etcd.members(state) }),
});

function memberSeen(name: string, { memberId, clusterId, leader, revision }: EndpointStatus): MemberSeen {
  return { name, memberId, clusterId, leader, revision: String(revision) };
}

/**
 * One member. `undefined`: there is no address to ask it at. @throws {StepError | EtcdError} when it does not answer.
 */
export const askMember = defineRequest('askMember', {
  words: ({ name }: { readonly name: string }) => `asks ${name} for its leader`,
  live: async ({ name }, { etcd: { endpoints }, etcdNow, signal }): Promise<MemberSeen | undefined> => {
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) return undefined;
    const { etcd } = await etcdNow();
    return memberSeen(name, await etcd.status(endpoint, { signal }));
  },
  model: (state, { name }, host) => {
    if (host.etcd.silent(state).includes(name)) throw unreachable();
    return { state, answer: host.etcd.members(state).find((member) => member.name === name) };
  },
});

/** Hands leadership to a voter. Done at once if it leads already. */
export const moveLeader = defineRequest('moveLeader', {
  words: ({ name }: { readonly name: string; readonly memberId: string; readonly clusterId: string }) =>
    `moves leadership to ${name}`,
  writes: () => ({ fence: 'none' }),
  live: async ({ memberId, clusterId }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await etcd.moveLeader(endpoints, memberId, { signal, clusterId });
  },
  model: (state, { memberId, clusterId }, host) => ({
    state: host.etcd.moveLeader(state, clusterId, memberId),
    answer: undefined,
  }),
});

export interface Agreement {
  readonly clusterId: string;
  readonly revision: string;
  /** Members whose data must agree at that revision. */
  readonly memberIds: readonly string[];
  /** The member that must not have a higher revision than all of them. */
  readonly against: { readonly name: string; readonly memberId: string };
}

/**
 * Whether these members hold the same data, and one other does not hold more: that one may be the only one that has
 * what clients were told is kept.
 *
 * @throws {StepError} when they do not.
 */
export const requireAgreement = defineRequest('requireAgreement', {
  words: ({ against }: Agreement) => `checks that the data of the members that outvote ${against.name} still agree`,
  live: async ({ clusterId, revision, memberIds, against }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await requireOneHash(etcd, endpoints, { clusterId, memberIds, revision: BigInt(revision), signal });
    const asked = await Promise.allSettled(endpoints.map((endpoint) => etcd.status(endpoint, { signal })));
    const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const own = answers.find((status) => status.memberId === against.memberId);
    const others = answers.filter((status) => memberIds.includes(status.memberId));
    if (own && others.every((status) => status.revision < own.revision))
      throw moved(`${against.name} has a higher revision than the members that outvote it`);
  },
  // A plan takes the hashes as they were observed, and the search knows of no corruption.
  model: (state, asked, host) => {
    requireAnswers(state, asked, host);
    return { state, answer: undefined };
  },
});
