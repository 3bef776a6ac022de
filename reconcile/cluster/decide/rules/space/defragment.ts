import { defragmentationDefaults } from '../../../../../manifests/api/defragmentation-defaults.ts';
import { parseQuantity } from '../../../../../manifests/api/quantity.ts';
import type { ActionOf } from '../../../know/action.ts';
import { type Database, databasesOf, newestOf } from '../../../know/databases.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { wasAsked } from '../../../know/defragmented.ts';
import { successorOf } from '../../../know/leadership.ts';
import type { Situation } from '../../../know/situation.ts';
import { waitToBegin } from '../../wait-for-window.ts';

/** The shortest time between two defragmentations of a member, whatever came of the first, in seconds. */
const atMostEvery = 3600;

/**
 * Members whose database files are much larger than their content free that space: one at a time, the leader last, so
 * that etcd is seldom out of space. etcd itself never does it: its files only grow. A member that defragments answers
 * no requests meanwhile.
 */
export function defragment(situation: Situation): Decision | undefined {
  const { cluster, at } = situation;
  const { mode, minReclaim, maxUsedPercent } = { ...defragmentationDefaults, ...cluster.spec.defragmentation };
  if (mode === 'Disabled') return undefined;
  const least = parseQuantity(minReclaim);
  const next = databasesOf(situation)?.find(
    ({ slot, isLearner, size, used }) =>
      !isLearner &&
      size - used >= Math.max(1, least) &&
      used * 100 <= maxUsedPercent * size &&
      !wasAsked(slot, at, { within: atMostEvery }),
  );
  if (!next) return undefined;
  const held = waitToBegin(situation);
  if (held) return held;
  const alone = successorOf(next.slot, situation) === undefined;
  return act(
    defragmentation(next, situation),
    'Defragmenting',
    `${next.slot.name} defragments its database${alone ? '; no other member answers meanwhile' : ''}`,
  );
}

/** Any member may be the leader by the time that it is asked, so a successor is named. */
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
