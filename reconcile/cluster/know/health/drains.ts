import type { ListedMember } from '../../../interfaces/etcd.ts';
import { withCure } from '../../../reasons/cure.ts';
import { hasDeparted, recordOf } from '../life.ts';
import { quorumOf } from '../membership/quorum.ts';
import { votersOf } from '../membership/voters.ts';
import type { Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';
import { keptStatement, type Statement } from '../statement.ts';
import { memberOf } from './health.ts';

/** What `kubectl drain` may do to a cluster: the number in its disruption budget, and the condition about it. */

/**
 * Voters without objects count, too: etcd counts them, so a budget without them would allow to lose the quorum (I1).
 */
export function votersToProtect({ life, effective, membership, slots }: Situation): number {
  const counting = slots.filter((slot) => !hasDeparted(slot));
  if (life.stage === 'born' && membership.kind === 'known') {
    const voters = votersOf(membership.members).length;
    return voters + counting.filter((slot) => joins(slot, membership.members)).length;
  }
  const recorded = counting.map((slot) => recordOf(slot)?.initialCluster.length ?? 0);
  return Math.max(life.stage === 'born' ? 0 : effective.replicas, ...recorded);
}

/**
 * It soon raises the majority, from its record on and until its vote counts: no other member should be evicted
 * meanwhile.
 */
function joins(slot: Slot, listed: readonly ListedMember[]): boolean {
  const state = recordOf(slot)?.state;
  return state === 'joining' || (state === 'sealed' && memberOf(slot, listed)?.isLearner === true);
}

/**
 * `minAvailable` for so many voters; 0: no budget. Of three and more one may be evicted, and the others are a quorum.
 * Of two none may, unless the spec allows it. A cluster of one is down whenever its node is drained: that is allowed
 * unless the spec refuses it.
 */
export function minAvailableFor(voters: number, { cluster }: Pick<Situation, 'cluster'>): number {
  const word = cluster.spec.disruption?.whenQuorumIsLost;
  if (voters === 1) return word === 'Refuse' ? 1 : 0;
  if (voters === 2) return word === 'Allow' ? 1 : 2;
  return voters === 0 ? 0 : quorumOf(voters);
}

/** Only of a cluster that loses its quorum with any member. The last statement stands while the voters are unknown. */
export function drainsStatement(situation: Situation): readonly Statement[] {
  const { cluster, life, membership, effective } = situation;
  if (life.stage !== 'born' || effective.replicas === 0) return [];
  if (membership.kind === 'unknown') return keptStatement(type, cluster.status?.conditions);
  const voters = votersOf(membership.members).length;
  if (voters > 2) return [];
  const members = voters === 1 ? 'one member' : 'two members';
  if (minAvailableFor(voters, situation) === voters) {
    return [
      {
        type,
        status: 'False',
        reason: 'QuorumNeedsEveryMember',
        message: withCure(
          `no node of it can be drained: it has ${members}, and a quorum needs every one`,
          `set spec.replicas to 3, or, if it may be unavailable until the pod is back, ${field} to Allow`,
        ),
      },
    ];
  }
  const refuse = voters === 1 ? `. To refuse drains: set ${field} to Refuse` : '';
  return [
    {
      type,
      status: 'True',
      reason: 'QuorumLossAllowed',
      message: `its nodes can be drained: it has ${members}, so it is unavailable until the evicted pod is back${refuse}`,
    },
  ];
}

const type = 'Drainable';
const field = 'spec.disruption.whenQuorumIsLost';
