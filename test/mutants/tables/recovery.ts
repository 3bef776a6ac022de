import type { Mutant } from '../mutant.ts';

const recovery = 'test/unit/cluster/actions/recovery.test.ts';
const decided = 'test/unit/cluster/recover-quorum.test.ts';
const held = 'reconcile/cluster/know/recovery/held.ts';

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
    file: 'reconcile/cluster/act/actions/recovery/begin-recovery.ts',
    from: 'voters.includes(one.memberId) && byData(heldIn(one), heldIn(chosen)) < 0',
    to: 'voters.includes(one.memberId) && byData(heldIn(one), heldIn(chosen)) === undefined',
    without: 'a recovery goes on from a member although another that tells more is there by then (I9)',
    killers: [recovery],
  },
  {
    file: held,
    from: 'if (!metrics || metrics.memberId !== memberId || clusterId === undefined)',
    to: 'if (!metrics || memberId === undefined || clusterId === undefined)',
    without: 'metrics of another member are believed of one that was started anew (I9)',
    killers: [decided],
  },
  {
    file: held,
    from: 'if (hasLeader || isLearner || others.length === 0)',
    to: 'if (isLearner || others.length === 0)',
    without: 'a member that hears a leader is gone on from (I9)',
    killers: [decided],
  },
  {
    file: held,
    from: 'if (hasLeader || isLearner || others.length === 0)',
    to: 'if (hasLeader || others.length === 0)',
    without: 'a learner that was started anew is gone on from (I9)',
    killers: [decided],
  },
  {
    file: held,
    from: 'if (hasLeader || isLearner || others.length === 0)',
    to: 'if (hasLeader || isLearner)',
    without: 'a recovery begins before the survivor has named all whom it leaves behind (I10)',
    killers: [decided],
  },
  {
    file: held,
    from: '(a.isSettled && b.isSettled && byRevision) ||',
    to: '',
    without: 'of two survivors the one whose log tells more is taken, though the other has more data',
    killers: [decided],
  },
  {
    file: held,
    from: ' || byRevision;',
    to: ';',
    without: 'of two survivors with the same index the one whose database is behind is taken',
    killers: ['test/unit/cluster/held.test.ts'],
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
