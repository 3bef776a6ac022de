import { type Program, together } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import { votersOf } from '../../../know/membership/voters.ts';
import { moved } from '../../../know/outcome.ts';
import { askMember, askMembers, moveLeader } from '../../requests/leadership.ts';
import { listMembers } from '../../requests/membership.ts';
import { livePeer } from '../../requests/objects.ts';
import { defragment, noteDefragmented } from '../../requests/space.ts';
import { defineAction } from '../define.ts';

type DefragmentMember = ActionOf<'defragment-member'>;

/**
 * Lets one member rewrite its database. The member answers no requests meanwhile.
 *
 * Guards I1: read again just before, every other voter answers and knows a leader, and this member leads no other. The
 * peer records the request before it is sent: a failure, or a crash, is not repeated without end.
 */
export const defragmentMember = defineAction('defragment-member', {
  target: ({ name }) => name,
  *run(action) {
    const { name, memberId, at, size, bareAt } = action;
    const others = yield* answeringOthers(action);
    yield* handOverLeadership(others, action);
    const before = yield* livePeer(name);
    const vain = (before.defragmented?.vain ?? 0) + 1;
    yield* noteDefragmented({ readAt: before.readAt, mark: { at, vain } });
    const hasShrunk = (yield* defragment({ name, memberId })) < size;
    if (!hasShrunk && bareAt === undefined) return;
    // Only now: one that failed has proved nothing about what its content takes.
    const { readAt } = yield* livePeer(name);
    const mark = { at, vain: hasShrunk ? 0 : vain, ...(bareAt !== undefined && { bareAt }) };
    yield* noteDefragmented({ readAt, mark });
  },
});

/** The other voters, of which there may be none. @throws {StepError} when one of them does not answer. */
function* answeringOthers({ name, memberId, clusterId }: DefragmentMember): Program<readonly string[]> {
  const { listed, answers } = yield* together({ listed: listMembers({ clusterId }), answers: askMembers({}) });
  const others = votersOf(listed).filter(({ id }) => id !== memberId);
  const away = others.find(({ id }) => !answers.some((one) => one.memberId === id && one.leader !== '0'));
  if (away) throw moved(`${away.name || away.id} does not answer any more, so ${name} is not defragmented`);
  return others.map(({ id }) => id);
}

/** A leader that answers no requests would hold up every write. */
function* handOverLeadership(others: readonly string[], action: DefragmentMember): Program {
  const { name, successor } = action;
  const leads = yield* leadsNow(action);
  if (others.length === 0 || !leads) return;
  if (!successor || !others.includes(successor.memberId)) throw moved(`${name} leads, and no other member can`);
  yield* moveLeader(successor);
  if (yield* leadsNow(action)) throw moved(`${name} leads again`);
}

function* leadsNow({ name, memberId }: DefragmentMember): Program<boolean> {
  const member = yield* askMember({ name });
  if (!member) throw moved(`${name} does not run any more`);
  if (member.memberId !== memberId) throw moved(`another member than ${memberId} runs as ${name} now`);
  return member.leader === memberId;
}
