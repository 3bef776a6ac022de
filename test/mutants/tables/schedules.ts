import type { Mutant } from '../mutant.ts';

const retention = 'test/unit/backup/retention.test.ts';
const stores = 'test/integration/backup/directory.test.ts';
const lives = 'test/unit/schedule/lives.test.ts';
const git = 'test/integration/fleet/backups.test.ts';

/** What keeps backups from being deleted, or made twice. */
export const ofSchedules: readonly Mutant[] = [
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'if (newestVerified !== undefined) yield',
    to: 'if (newestVerified === null) yield',
    without: 'the newest verified backup may go',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'Math.max(1, keep.last ?? 0)',
    to: 'Math.max(0, keep.last ?? 0)',
    without: 'the newest backup may go before it is verified',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'timeOf(one) <= now.getTime();',
    to: 'timeOf(one) <= now.getTime() || timeOf(one) > 0;',
    without: 'a clock that went back deletes what lies ahead of it',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'if (life && newest && one.revision >= newest.revision) {',
    to: 'if (life && newest) {',
    without: 'the backups of a recovered cluster push out the only copy of what the recovery lost',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'if (isAnother) yield* life.slice(-1);',
    to: '',
    without: 'the second retention takes two lives for one, and deletes the newest copy of the first',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'return (askedAt ?? takenAt).getTime();',
    to: 'return takenAt.getTime() + 0 * Number(askedAt ?? 0);',
    without: 'the clock of a node tells one life from another',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/retention.ts',
    from: 'const life = open.get(one.clusterId);',
    to: 'const life = open.get(one.clusterId) ?? [...open.values()].at(-1);',
    without: 'a cluster that is made anew pushes out the last good backup of the lost one',
    killers: [retention],
  },
  {
    file: 'reconcile/backup/agent/own-backups.ts',
    from: 'marker !== undefined && (await isProven(store, name, record, options))',
    to: 'marker !== undefined',
    without: 'any file of the right name makes a backup the verified one that stays',
    killers: [stores],
  },
  {
    file: 'reconcile/backup/agent/prune.ts',
    from: 'backups.filter(({ id }) => !spare.includes(id))',
    to: 'backups',
    without: 'a backup is deleted while it is restored and compared',
    killers: [stores],
  },
  {
    file: 'reconcile/backup/agent/own-backups.ts',
    from: 'record?.schedule === schedule &&',
    to: 'record !== undefined &&',
    without: "one schedule deletes another's backups",
    killers: [stores],
  },
  {
    file: 'reconcile/backup/agent/own-backups.ts',
    from: '&& record.object === urlOf(location)',
    to: '',
    without: 'a record that was copied lets the object beside it go',
    killers: [stores],
  },
  {
    file: 'reconcile/backup/agent/own-backups.ts',
    from: 'object.version !== record.version || ',
    to: '',
    without: 'an object that was replaced goes for the backup that it is not',
    killers: [stores],
  },
  {
    file: 'reconcile/backup/agent/prune.ts',
    from: '!== undefined) return;',
    to: '=== null) return;',
    without: 'the record of a backup that was just made is deleted as a remainder',
    killers: [stores],
  },
  {
    file: 'reconcile/schedule/decide.ts',
    from: "if (concurrencyPolicy === 'Forbid')",
    to: "if (concurrencyPolicy === 'Never')",
    without: 'Forbid gives up what is under way',
    killers: [lives],
  },
  {
    file: 'reconcile/schedule/decide.ts',
    from: "|| pruning?.kind === 'running') return undefined",
    to: ') return undefined',
    without: 'two retentions run at once',
    killers: [lives],
  },
  {
    file: 'reconcile/schedule/decide.ts',
    from: 'known.filter((time) => isBelievable(time, now))',
    to: 'known',
    without: 'a clock that was years ahead stops all backups for years',
    killers: [lives],
  },
  {
    file: 'reconcile/fleet/plan.ts',
    from: 'if (isGone && entry && runsOnce(spec.kind)) return { ran: entry };',
    to: '',
    without: 'a backup in Git is taken again when its EtcdBackup was deleted',
    killers: [git],
  },
  {
    file: 'reconcile/schedule/decide.ts',
    from: '    ...all.filter((backup) => isAhead(backup, now)),',
    to: '',
    without: 'after a clock that was years ahead, no retention runs for years',
    killers: [lives],
  },
];
