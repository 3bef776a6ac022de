import { annotations } from '../../../../../manifests/render/names.ts';
import { unstarted } from '../../../../../manifests/render/volume-record.ts';
import type { ListedMember } from '../../../../interfaces/etcd.ts';
import type { Program } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import { quorumOf } from '../../../know/membership/quorum.ts';
import { votersOf } from '../../../know/membership/voters.ts';
import { moved } from '../../../know/outcome.ts';
import { askMembers, moveLeader, requireAgreement } from '../../requests/leadership.ts';
import { listMembers, removeFromList } from '../../requests/membership.ts';
import { readVolume, writeRecord } from '../../requests/volumes.ts';
import { applyShared } from '../birth/apply-shared.ts';
import { defineAction, type Leased } from '../define.ts';
import { forestallOtherRemovals } from './forestall-removals.ts';
import { retireMember } from './retire-member.ts';

type RemoveMember = ActionOf<'remove-member'>;

/**
 * Removes a member from the list, for ever. First its volume is marked, so that the next invocation after a crash
 * finishes this: a removal that was sent may be applied long after its answer was lost, so it is never undone. Once the
 * member is off the list, its volume, its peer and the disruption budget follow.
 *
 * Guards I1 and I9: a quorum of the others answers now, each asked directly, and follows a leader; where the member is
 * removed for its data, theirs still agree. Guards I2: the list is read behind a barrier, and no other removal is
 * begun. Guards I14: an approval that it takes is still there.
 */
export const removeMember = defineAction('remove-member', {
  target: ({ name }) => name,
  *run(action, cluster) {
    const { name, memberId, clusterId, successor, approval } = action;
    if (approval !== undefined && cluster.annotations[annotations.replaceMember] !== approval)
      throw moved('the approval was taken back');
    const listed = yield* listMembers({ clusterId });
    if (!listed.some(({ id }) => id === memberId)) return;
    const leader = yield* leaderOfTheRest(listed, action);
    yield* requireTheirAgreement(listed, action);
    yield* markReleasing(listed, action);
    if (leader === memberId) {
      if (!successor) throw moved(`${name} leads, and no other member could`);
      yield* moveLeader(successor);
    }
    yield* removeFromList({ name, memberId, clusterId });
    yield* retire(action, cluster);
    if (action.minAvailable === undefined) return;
    const { minAvailable } = action;
    yield* applyShared.run({ kind: 'apply-shared', objects: ['disruption-budget'], minAvailable }, cluster);
  },
});

function* retire(action: RemoveMember, cluster: Leased): Program {
  const { name, memberId, clusterId, volume, retires, corrupt, keeps, replacedAt } = action;
  if (!retires) return;
  const keep = retires.keep || corrupt !== undefined || keeps === true || replacedAt !== undefined;
  const { peer, url } = retires;
  const released = volume && { ...volume, memberId, state: 'released' as const, keep };
  yield* retireMember.run(
    {
      kind: 'retire-member',
      name,
      clusterId,
      ...(peer && { peer }),
      ...(released ? { volume: released } : url !== undefined && { url }),
    },
    cluster,
  );
}

/** @returns which member leads. @throws {StepError} when the others would be no quorum of themselves. */
function* leaderOfTheRest(
  listed: readonly ListedMember[],
  { name, memberId, clusterId }: RemoveMember,
): Program<string> {
  const voters = listed.filter(({ id, isLearner }) => id !== memberId && !isLearner);
  const answers = yield* askMembers({});
  const following = answers.filter(
    (one) => one.clusterId === clusterId && one.leader !== '0' && voters.some(({ id }) => id === one.memberId),
  );
  if (following.length < quorumOf(voters.length))
    throw moved(`without ${name}, no quorum of the others would answer, so it stays`);
  return following[0]?.leader ?? '0';
}

/** Whose data most members agree on is known by more than half of those that vote now. */
function* requireTheirAgreement(
  listed: readonly ListedMember[],
  { name, memberId, clusterId, corrupt }: RemoveMember,
): Program {
  if (!corrupt) return;
  const voters = votersOf(listed);
  const memberIds = corrupt.trusted.filter((trusted) => voters.some(({ id }) => id === trusted));
  if (memberIds.length < quorumOf(voters.length))
    throw moved(`the members that agree against ${name} are no majority any more`);
  yield* requireAgreement({ clusterId, revision: corrupt.revision, memberIds, against: { name, memberId } });
}

function* markReleasing(listed: readonly ListedMember[], action: RemoveMember): Program {
  const { name, volume, memberId, clusterId, corrupt, keeps, replacedAt } = action;
  if (!volume) return yield* forestallOtherRemovals(name, listed);
  const found = yield* readVolume({ name });
  if (found?.uid !== volume.uid) throw moved(`volume ${name} is another one than was looked at`);
  const { record, readAt } = found;
  if (record.state === 'releasing') return;
  if (record.memberId !== undefined && record.memberId !== memberId)
    throw moved(`volume ${name} is that of member ${record.memberId}, and not of ${memberId}`);
  yield* forestallOtherRemovals(name, listed);
  yield* writeRecord({
    readAt,
    record: {
      ...unstarted(record),
      memberId,
      clusterId,
      state: 'releasing',
      ...((corrupt || keeps) && { evidence: true }),
      ...(replacedAt !== undefined && { replacedAt }),
    },
  });
}
