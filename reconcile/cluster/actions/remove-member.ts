import { unstarted } from '../../../manifests/build/volume-record.ts';
import type { MemberList } from '../../etcd.ts';
import type { EtcdAdmin } from '../../etcd-admin.ts';
import type { ActionOf } from '../actions.ts';
import { settledList, withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { quorumOf } from '../quorum.ts';
import { requireOneHash } from '../same-data.ts';
import { votersOf } from '../voters.ts';
import { type ActContext, volumeAsSeen } from './context.ts';
import { forestallOtherRemovals } from './forestall-removals.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Takes a member off the list, for ever. First its volume is marked, so that whoever comes after a crash finishes this: a removal
 * that was sent may be decided long after its answer was lost, so it is never undone.
 *
 * Guards I1 and I9: of the others, a quorum answers at this very moment, each for itself, and follows a leader; where it is for its
 * data that the member goes, they hold the same still. Guards I2: the list is read behind a barrier, and no other removal is begun.
 */
export async function removeMember(action: ActionOf<'remove-member'>, context: ActContext): Promise<void> {
  const { memberId, clusterId, successor } = action;
  const { etcd: way, signal } = context;
  await withEtcd(way, async (etcd, endpoints) => {
    const list = await settledList(etcd, endpoints, { clusterId, signal });
    const member = list.members.find(({ id }) => id === memberId);
    if (!member) return;
    const leader = await leaderOfTheRest(etcd, list, action, context);
    await requireAgreement(etcd, list, endpoints, action, signal);
    await markReleasing(action, list, context);
    if (leader === memberId) {
      if (!successor) throw moved(`${action.name} leads, and nobody else could`);
      await etcd.moveLeader(endpoints, successor.memberId, { signal, clusterId });
    }
    await etcd.remove(endpoints, memberId, { signal, clusterId });
  });
}

/** @returns who leads. @throws {StepError} when the others would be no quorum of themselves. */
async function leaderOfTheRest(
  etcd: EtcdAdmin,
  list: MemberList,
  { name, memberId, clusterId }: ActionOf<'remove-member'>,
  { etcd: way, signal }: ActContext,
): Promise<string> {
  const voters = list.members.filter(({ id, isLearner }) => id !== memberId && !isLearner);
  const asked = await Promise.allSettled(
    [...way.endpoints.values()].map((endpoint) => etcd.status(endpoint, { signal })),
  );
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const following = answers.filter(
    (status) =>
      status.clusterId === clusterId && status.leader !== '0' && voters.some(({ id }) => id === status.memberId),
  );
  if (following.length < quorumOf(voters.length)) {
    throw moved(`without ${name}, no quorum of the others would answer, so it stays`);
  }
  return following[0]?.leader ?? '0';
}

/** Whose data most members agree on is known by more than half of those that vote now. */
async function requireAgreement(
  etcd: EtcdAdmin,
  list: MemberList,
  endpoints: readonly string[],
  { name, memberId, clusterId, corrupt }: ActionOf<'remove-member'>,
  signal: AbortSignal,
): Promise<void> {
  if (!corrupt) return;
  const voters = votersOf(list.members);
  const memberIds = corrupt.trusted.filter((trusted) => voters.some(({ id }) => id === trusted));
  if (memberIds.length < quorumOf(voters.length)) throw moved(`who agrees against ${name} is no majority any more`);
  await requireOneHash(etcd, endpoints, { clusterId, memberIds, revision: BigInt(corrupt.revision), signal });
  await requireNotAhead(etcd, endpoints, { name, memberId, memberIds }, signal);
}

/** Who holds more than those that agree against it may be the only one that has what clients were told is kept. */
async function requireNotAhead(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  {
    name,
    memberId,
    memberIds,
  }: { readonly name: string; readonly memberId: string; readonly memberIds: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const asked = await Promise.allSettled(endpoints.map((endpoint) => etcd.status(endpoint, { signal })));
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const own = answers.find((status) => status.memberId === memberId);
  const others = answers.filter((status) => memberIds.includes(status.memberId));
  if (own && others.every(({ revision }) => revision < own.revision))
    throw moved(`${name} holds more than those that agree against it`);
}

async function markReleasing(
  { name, volume, memberId, clusterId, corrupt, keeps, replacedAt }: ActionOf<'remove-member'>,
  { members }: MemberList,
  context: ActContext,
): Promise<void> {
  if (!volume) return forestallOtherRemovals(name, members, context);
  const found = await volumeAsSeen(context, volume);
  if (!found) throw moved(`volume ${name} is another one than was looked at`);
  const { claim, record } = found;
  if (record.state === 'releasing') return;
  if (record.memberId !== undefined && record.memberId !== memberId)
    throw moved(`volume ${name} is that of member ${record.memberId}, and not of ${memberId}`);
  await forestallOtherRemovals(name, members, context);
  await writeRecord(
    claim,
    {
      ...unstarted(record),
      memberId,
      clusterId,
      state: 'releasing',
      ...((corrupt || keeps) && { evidence: true }),
      ...(replacedAt !== undefined && { replacedAt }),
    },
    context,
  );
}
