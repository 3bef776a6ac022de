import type { Mutant } from '../mutant.ts';

const actions = 'test/unit/cluster/actions/restore.test.ts';
const rules = 'test/unit/cluster/restore-snapshot.test.ts';

/** What keeps a restore from data that serve. */
export const ofRestore: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/act/actions/recovery/restore-snapshot.ts',
    from: 'if (runs) throw',
    to: 'if (!found) throw',
    without: 'a snapshot is restored to a volume whose member runs (I11)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/restore-snapshot.ts',
    from: "if (record.state !== 'restoring' || record.recovery?.attempt !== attempt - 1)",
    to: 'if (!record)',
    without: 'an attempt is made twice, or when the restore is over (I11)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/conclude-restore.ts',
    from: '!ran.job.completed',
    to: '!ran.job.uid',
    without: 'a member starts before its data are there',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/decide/rules/birth/be-born.ts',
    from: 'if (sourceOfBirth(slots, token) === wanted.source) return undefined;',
    to: 'if (wanted.source) return undefined;',
    without: 'volumes of another cluster are taken for what was restored (I11)',
    killers: [rules],
  },
  {
    file: 'reconcile/cluster/decide/what-may-go-on.ts',
    from: "reason === 'RestoreOverData' ? undefined : besides",
    to: "reason === 'SealBroken' ? undefined : besides",
    without: 'volumes of another cluster are adopted beside the refusal (I11)',
    killers: [rules],
  },
];
