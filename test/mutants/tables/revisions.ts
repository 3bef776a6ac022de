import type { Mutant } from '../mutant.ts';

const rules = 'test/unit/cluster/revisions.test.ts';
const told = 'test/unit/cluster/world/roll-back-revisions.test.ts';
const know = 'reconcile/cluster/know/backups/revisions.ts';

/** What keeps clients from being served revisions that they saw already (I17). */
export const ofRevisions: readonly Mutant[] = [
  {
    file: know,
    from: 'Math.max(revision, highestKnown(seen)) + revisionsAhead',
    to: 'revision + revisionsAhead',
    without: 'a rollback begins at a fixed distance from its snapshot, whatever clients saw',
    killers: [rules, told],
  },
  {
    file: know,
    from: 'Math.max(revision, highestKnown(seen))',
    to: 'highestKnown(seen)',
    without: 'a snapshot that is ahead of its cluster would be restored with a negative bump',
    killers: [rules],
  },
  {
    file: know,
    from: '[...served, record.revisionFloor ?? 0]',
    to: 'served',
    without: 'a second rollback without a quorum begins where the first one did',
    killers: [rules],
  },
  {
    file: know,
    from: "slot.endpoint.kind === 'known' ? [Number(slot.endpoint.status.revision)] : []",
    to: '[]',
    without: 'a rollback does not count what the members serve now',
    killers: [rules],
  },
  {
    file: know,
    from: 'record && !isAspirant(record)',
    to: 'record',
    without: 'each attempt of a rollback begins 2^40 higher',
    killers: [rules],
  },
  {
    file: know,
    from: 'cluster.status?.revisionFloor ?? 0, ',
    to: '',
    without: 'where no volume is left, a second rollback begins where the first one did',
    killers: [rules],
  },
  {
    file: 'reconcile/cluster/know/backups/rollback.ts',
    from: ' || tooFarAhead(wanted, true, seen)',
    to: '',
    without: 'a rollback begins that leaves revisions no room below 2^53',
    killers: [rules],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/seal-members.ts',
    from: '...beginningAt(Math.max(floor, record.revisionFloor ?? 0)),',
    to: '',
    without: 'where nothing said the revision of a snapshot, the floor is below where the store began',
    killers: [told],
  },
  {
    file: 'reconcile/backup/agent/bolt.ts',
    from: 'level < deepest',
    to: 'level < Number.POSITIVE_INFINITY',
    without: 'a snapshot whose pages lead in a circle is read for ever',
    killers: ['test/unit/backup/bolt.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/scale.ts',
    from: '...(revisionFloor !== undefined && { revisionFloor }),',
    to: '',
    without: 'a member that joins does not remember the floor, and the others may be lost before it',
    killers: [told],
  },
];
