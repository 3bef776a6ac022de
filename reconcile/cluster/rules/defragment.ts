import { defragmentationDefaults } from '../../../manifests/api/defragmentation-defaults.ts';
import { parseQuantity } from '../../../manifests/api/quantity.ts';
import type { ActionOf } from '../actions.ts';
import { type Database, databasesOf, newestOf } from '../databases.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { wasAsked } from '../defragmented.ts';
import { successorOf } from '../leadership.ts';
import { waitForRoom } from '../wait-for-room.ts';

/** No member is defragmented more often than that, whatever came of it, in seconds. */
const atMostEvery = 3600;

/**
 * Members whose database files have grown far beyond what is in them give that back: one at a time, the leader last, so that etcd
 * is seldom out of space. etcd itself never does it: its files only grow. A member that defragments answers nobody meanwhile.
 */
export function defragment(situation: Situation): Decision | undefined {
  const { cluster, at } = situation;
  const { minReclaim, maxUsedRatio } = { ...defragmentationDefaults, ...cluster.spec.defragmentation };
  const least = parseQuantity(minReclaim);
  const next = databasesOf(situation)?.find(
    ({ slot, isLearner, size, used }) =>
      !isLearner &&
      size - used >= Math.max(1, least) &&
      used <= maxUsedRatio * size &&
      !wasAsked(slot, at, { within: atMostEvery }),
  );
  if (!next) return undefined;
  if (situation.crowdedBy) return waitForRoom(situation);
  const alone = successorOf(next.slot, situation) === undefined;
  return act(
    defragmentation(next, situation),
    'Defragmenting',
    `${next.slot.name} gives back what its database does not use${alone ? '; nobody else answers meanwhile' : ''}`,
  );
}

/** Whoever it is, it may lead by the time that it is asked. */
export function defragmentation(
  { slot, memberId, size }: Database,
  situation: Situation,
): ActionOf<'defragment-member'> {
  const { membership, at, hasHistory } = situation;
  const successor = successorOf(slot, situation);
  return {
    kind: 'defragment-member',
    name: slot.name,
    memberId,
    clusterId: membership.kind === 'known' ? membership.clusterId : '',
    size,
    at: at.toISOString(),
    ...(hasHistory === false && { bareAt: String(newestOf(databasesOf(situation) ?? [])) }),
    ...(successor && { successor }),
  };
}
