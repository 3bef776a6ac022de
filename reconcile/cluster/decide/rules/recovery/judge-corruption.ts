import type { ListedMember } from '../../../../interfaces/etcd.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { differsFromPeers, type Reached, type Verdict, verdictOf } from '../../../know/health/hashes.ts';
import { ailmentOf, memberOf } from '../../../know/health/health.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { isCorrupt } from '../../../know/space/databases.ts';

/**
 * The data of members differ: etcd says so (CORRUPT, and accepts no writes), or a member does not start because of it.
 * etcd's alarm may blame no member, so it is not used; what counts is the hash of every voter's keys at one revision. A
 * voter that differs from a strict majority is replaced (`heal`); when all voters agree, the alarm is disarmed. Without
 * a majority it is unknown whose data are right, and no member is touched.
 *
 * Guards I9: below this rule a member is replaced only by a majority's verdict.
 */
export function judgeCorruption(situation: Situation): Decision | undefined {
  const { slots, membership, hashes } = situation;
  if (membership.kind === 'unknown') return undefined;
  const verdict = verdictOf(situation);
  if (verdict.kind === 'split') {
    const nameOf = (id: string) => membership.members.find((member) => member.id === id)?.name ?? id;
    const groups = verdict.groups.map((group) => group.map(nameOf).join(', ')).join(' against ');
    return refuse(
      'DataDiffer',
      `the data of members differ, and no majority decides whose are right: ${groups}`,
      'find out whose data are right (etcdctl endpoint hashkv --cluster, and the keys themselves), and remove the others from the list (etcdctl member remove): they are then replaced, and their volumes kept',
    );
  }
  const ahead = aheadOfThose(situation, verdict);
  if (ahead) return ahead;
  if (!isCorrupt(slots)) return undefined;
  switch (verdict.kind) {
    case 'agreed':
      return act(
        { kind: 'disarm-corrupt', clusterId: membership.clusterId, revision: String(hashes?.revision) },
        'Corrupt',
        'the data of all voters agree: the alarm CORRUPT is disarmed, and writes are accepted again',
      );
    case 'majority': {
      const isGone = slots.some((slot) => memberOf(slot, membership.members) && ailmentOf(slot, situation));
      // An ill voter is healed further down, and no longer counts then.
      return isGone || verdict.guilty.size > 0 ? undefined : incomparable;
    }
    case 'ahead':
      return undefined;
    case 'open':
      return hashes?.answers.some(({ kind }) => kind === 'unknown') ? comparing : incomparable;
    case 'unasked':
      return comparing;
    default:
      return verdict satisfies never;
  }
}

/**
 * A member is outvoted, and has a higher revision. That happens where a member returned on an older copy of its disk:
 * it and a lagging member have lost a write, and the member that still has it differs from both (seen on etcd 3.5 to
 * 3.7).
 */
function aheadOfThose({ slots, membership }: Situation, verdict: Verdict): Decision | undefined {
  if (membership.kind === 'unknown' || (verdict.kind !== 'ahead' && verdict.kind !== 'majority')) return undefined;
  const nameOf = (id: string) => membership.members.find((member) => member.id === id)?.name ?? id;
  const inWords = ({ memberId, revision }: Reached) => `${nameOf(memberId)} (revision ${revision})`;
  const [ahead] = verdict.kind === 'ahead' ? verdict.ahead : slots.flatMap((slot) => exited(slot, membership.members));
  const isLess = ahead !== undefined && verdict.others.every(({ revision }) => revision < ahead.revision);
  if (!ahead || !isLess) return undefined;
  const name = nameOf(ahead.memberId);
  return refuse(
    'DataDiffer',
    `${inWords(ahead)} is outvoted by ${verdict.others.map(inWords).join(', ')}, and has a higher revision than they have: acknowledged writes may exist on ${name} alone, so it is not replaced`,
    `keep a copy of the volume of ${name}, and compare the keys (etcdctl endpoint hashkv --cluster); write to the others what only ${name} has, and then remove it from the list: etcdctl member remove ${ahead.memberId}; it is replaced, and its volume kept`,
  );
}

/** It exited because its data differ, and logged at which revision. */
function exited(slot: Slot, members: readonly ListedMember[]): readonly Reached[] {
  const memberId = memberOf(slot, members)?.id;
  const revision = slot.pod?.container.comparedAt;
  return memberId !== undefined && revision !== undefined && differsFromPeers(slot) ? [{ memberId, revision }] : [];
}

const raised = 'etcd has raised CORRUPT and accepts no writes';

const comparing = wait('Corrupt', `${raised}: the data of its members are being compared`, {
  on: 'time',
  afterSeconds: 5,
});

/** No write is accepted any more, so no later revision can be compared. */
const incomparable = refuse(
  'Corrupt',
  `${raised}; the data of its members cannot be compared, because they have compacted to different revisions`,
  'run etcdctl alarm disarm, which lets writes in again; the next compaction compares all members anew',
);
