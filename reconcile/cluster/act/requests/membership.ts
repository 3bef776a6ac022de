import { setTimeout as pause } from 'node:timers/promises';
import { EtcdError, type ListedMember } from '../../../interfaces/etcd.ts';
import { didNotAnswer, unreachable } from '../../../requests/refusals.ts';
import { settledList } from '../../etcd-way.ts';
import { moved } from '../../know/outcome.ts';
import { defineRequest } from './request.ts';

/**
 * etcd's member list, and its changes. etcd has no fence: what is sent may be carried out later, and is looked at
 * again.
 */

interface OfCluster {
  readonly clusterId: string;
}

/** Behind a barrier, and of the cluster that is meant. @throws {StepError} when another one answers. */
export const listMembers = defineRequest('listMembers', {
  words: () => 'reads the member list behind a barrier',
  live: async ({ clusterId }: OfCluster, { etcdNow, signal }): Promise<readonly ListedMember[]> => {
    const { etcd, endpoints } = await etcdNow();
    return (await settledList(etcd, endpoints, { clusterId, signal })).members;
  },
  model: (state, { clusterId }, host) => {
    const list = host.etcd.list(state);
    if (!list) throw host.etcd.members(state).length > 0 ? didNotAnswer() : unreachable();
    if (list.clusterId !== clusterId) throw moved(`etcd cluster ${list.clusterId} answers, and not ${clusterId}`);
    return { state, answer: list.members };
  },
});

/** Puts a learner on the list. etcd refuses beside another learner, and where a voter is not connected. */
export const addToList = defineRequest('addToList', {
  words: ({ name }: OfCluster & { readonly name: string; readonly url: string }) =>
    `adds ${name} to the member list as a learner`,
  writes: ({ name }) => ({ fence: 'none', name, membership: { kind: 'add', target: name } }),
  live: async ({ clusterId, url }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await etcd.addLearner(endpoints, url, { signal, clusterId });
  },
  model: (state, { clusterId, name, url }, host) => ({
    state: host.etcd.add(state, clusterId, { name, url }),
    answer: undefined,
  }),
});

/** A second in all: leaders tell learners what is decided with each heartbeat, ten times a second. */
const promotions = 11;
/** Milliseconds. */
const betweenPromotions = 100;

interface OfMember extends OfCluster {
  readonly name: string;
  readonly memberId: string;
}

/**
 * Makes a learner a voter. etcd refuses as long as it is not in sync: then it is asked again for a moment, which is
 * safe because a refusal is certain.
 */
export const promote = defineRequest('promote', {
  words: ({ name }: OfMember) => `promotes ${name}`,
  writes: ({ memberId }) => ({ fence: 'none', membership: { kind: 'promote', target: memberId } }),
  live: async ({ clusterId, memberId }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    for (let triesLeft = promotions; ; triesLeft--) {
      try {
        return await etcd.promote(endpoints, memberId, { signal, clusterId });
      } catch (error) {
        if (triesLeft === 1 || !(error instanceof EtcdError) || error.reason !== 'NotInSync') throw error;
      }
      await pause(betweenPromotions, undefined, { signal });
    }
  },
  model: (state, { clusterId, memberId }, host) => ({
    state: host.etcd.promote(state, clusterId, memberId),
    answer: undefined,
  }),
});

/** Takes a member off the list, for ever. etcd refuses where the rest would have no quorum, and we where it leads. */
export const removeFromList = defineRequest('removeFromList', {
  words: ({ name }: OfMember) => `removes ${name} from the member list`,
  writes: ({ name, memberId }) => ({ fence: 'none', name, membership: { kind: 'remove', target: memberId } }),
  live: async ({ clusterId, memberId }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await etcd.remove(endpoints, memberId, { signal, clusterId });
  },
  model: (state, { clusterId, memberId }, host) => ({
    state: host.etcd.remove(state, clusterId, memberId),
    answer: undefined,
  }),
});
