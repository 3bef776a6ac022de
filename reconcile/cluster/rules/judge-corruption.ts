import type { ListedMember } from '../../etcd.ts';
import { isCorrupt } from '../databases.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { differsFromPeers, type Reached, type Verdict, verdictOf } from '../hashes.ts';
import { ailmentOf, memberOf } from '../health.ts';
import type { Slot } from '../observation.ts';

/**
 * Members hold different data: etcd says so (CORRUPT, and takes no writes), or one does not start because of it. Whom etcd blames is
 * not asked, it may be nobody; what counts is what all voters' keys hash to at one revision. Who differs from a strict majority is
 * replaced (`heal`); once all that vote agree, the alarm is taken back. Without a majority nobody knows whose data are right, and
 * nobody is touched.
 *
 * Guards I9: below this rule somebody is replaced for what a majority agrees on, or nobody is.
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
      `members hold different data, and no majority says whose are right: ${groups}`,
      'find out whose data are right (etcdctl endpoint hashkv --cluster, and the keys themselves), and take the others off the list (etcdctl member remove): they are replaced then, and their volumes kept',
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
        'every member that votes holds the same data: the alarm CORRUPT is taken back, and writes are let in',
      );
    case 'majority': {
      const isGone = slots.some((slot) => memberOf(slot, membership.members) && ailmentOf(slot, situation));
      // Whoever is ill is healed further down, and counts no more then.
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
 * Who is outvoted, and holds more. So it is where a member came back on an older copy of its disk: it and another one that lagged have
 * forgotten a write, and the one that still has it differs from both (seen on etcd 3.5 to 3.7).
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
    `${inWords(ahead)} is outvoted by ${verdict.others.map(inWords).join(', ')}, and holds more than they do: writes that clients were told are kept may be on ${name} alone, so it is not replaced`,
    `keep a copy of the volume of ${name}, and compare the keys (etcdctl endpoint hashkv --cluster); write to the others what only ${name} has, and then take it off the list: etcdctl member remove ${ahead.memberId}; it is replaced, and its volume kept`,
  );
}

/** It found its data to differ, and said at which revision. */
function exited(slot: Slot, members: readonly ListedMember[]): readonly Reached[] {
  const memberId = memberOf(slot, members)?.id;
  const revision = slot.pod?.container.comparedAt;
  return memberId !== undefined && revision !== undefined && differsFromPeers(slot) ? [{ memberId, revision }] : [];
}

const raised = 'etcd has raised CORRUPT and takes no writes';

const comparing = wait('Corrupt', `${raised}: what its members hold is being compared`, {
  on: 'time',
  afterSeconds: 5,
});

/** Nothing is written any more, so that no later revision will tell. */
const incomparable = refuse(
  'Corrupt',
  `${raised}; what its members hold can't be compared, because they have compacted to different revisions`,
  'etcdctl alarm disarm lets writes in again; the next compaction compares all members anew',
);
