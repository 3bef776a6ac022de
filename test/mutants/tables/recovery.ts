import type { Mutant } from '../mutant.ts';

const recovery = 'test/unit/cluster/actions/recovery.test.ts';

/** What an action of a recovery looks at again just before it acts. */
export const ofRecovery: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/act/actions/recovery/begin-recovery.ts',
    from: 'if (chosen.raftIndex !== raftIndex) throw',
    to: 'if (chosen.raftIndex === undefined) throw',
    without: 'a recovery goes on from a member that has taken writes since it was approved (I9)',
    killers: [recovery],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/stop-members.ts',
    from: 'if (isFirst && ',
    to: 'if (!isFirst && ',
    without: 'members are stopped though a quorum answers again (I9)',
    killers: [recovery],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/force-new-cluster.ts',
    from: 'if (runs) throw',
    to: 'if (!found) throw',
    without: 'a cluster of one is made of a volume whose member runs (I10)',
    killers: [recovery],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/force-new-cluster.ts',
    from: "if (record.state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt - 1)",
    to: 'if (!recovery)',
    without: 'a cluster of one is made twice, or when the recovery is over (I10)',
    killers: [recovery],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/conclude-recovery.ts',
    from: 'if (ran.job?.uid !== job.uid || ran.pod?.uid !== pod.uid || !ran.pod.ready)',
    to: 'if (!ran)',
    without: 'a recovery is over before its pod leads itself',
    killers: [recovery],
  },
];
