import { EtcdError } from '../interfaces/etcd.ts';
import type { EtcdAdmin } from '../interfaces/etcd-admin.ts';
import type { Calls } from './etcd-calls.ts';
import { change, notToBeSent } from './etcd-change.ts';
import { decimal, hex } from './etcd-values.ts';

export function membership(calls: Calls): Pick<EtcdAdmin, 'addLearner' | 'promote' | 'remove' | 'moveLeader'> {
  return {
    addLearner: (endpoints, peerUrl, options) =>
      change(calls, {
        call: `add learner ${peerUrl}`,
        endpoints,
        options,
        run: async (client, callOptions) => {
          const request = { peerURLs: [peerUrl], isLearner: true };
          return hex((await client.cluster.memberAdd(request, callOptions)).member.ID);
        },
      }),
    promote: async (endpoints, memberId, options) => {
      const call = `promote ${memberId}`;
      const ID = decimal(call, memberId);
      await change(calls, {
        call,
        endpoints,
        options,
        run: (client, callOptions) => client.cluster.memberPromote({ ID }, callOptions),
      }).catch((error: unknown) => {
        throw passedOn(error);
      });
    },
    remove: async (endpoints, memberId, options) => {
      const call = `remove ${memberId}`;
      const ID = decimal(call, memberId);
      await change(calls, {
        call,
        endpoints,
        options,
        admit: ({ endpoint, leader }) => {
          if (leader === memberId) throw notToBeSent(call, endpoint, 'IsLeader', 'it leads; move leadership first');
          return undefined;
        },
        run: (client, callOptions) => client.cluster.memberRemove({ ID }, callOptions),
      });
    },
    moveLeader: async (endpoints, targetId, options) => {
      const call = `move leader to ${targetId}`;
      const targetID = decimal(call, targetId);
      await change<unknown>(calls, {
        call,
        endpoints,
        options,
        leaderOnly: true,
        admit: ({ leader }) => (leader === targetId ? { done: undefined } : undefined),
        run: (client, callOptions) => client.maintenance.moveLeader({ targetID }, callOptions),
      });
    },
  };
}

/**
 * A follower forwards a promotion by HTTP, again and again: when it ends with "no leader", an earlier attempt may have
 * been heard (PromoteMember in etcd's server).
 */
function passedOn(error: unknown): unknown {
  if (!(error instanceof EtcdError) || error.reason !== 'NoLeader') return error;
  return new EtcdError(error.message, 'ambiguous', error);
}
