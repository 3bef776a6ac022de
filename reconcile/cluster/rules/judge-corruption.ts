import { isCorrupt } from '../databases.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { verdictOf } from '../hashes.ts';
import { ailmentOf, memberOf } from '../health.ts';

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
    case 'open':
      return hashes?.answers.some(({ kind }) => kind === 'unknown') ? comparing : incomparable;
    case 'unasked':
      return comparing;
    default:
      return verdict satisfies never;
  }
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
