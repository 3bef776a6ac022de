import type { Mutant } from '../mutant.ts';

const recovery = 'test/unit/cluster/actions/recovery.test.ts';
const decided = 'test/unit/cluster/recover-quorum.test.ts';
const diskLogs = 'test/unit/cluster/read-disk-logs.test.ts';
const readsLogs = 'test/unit/cluster/read-logs.test.ts';
const held = 'reconcile/cluster/know/recovery/held.ts';

/** What an action of a recovery looks at again just before it acts, and what a person is shown before. */
export const ofRecovery: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/observe/read-disk-logs.ts',
    from: 'if (!isControlledBy(job, peer.uid))',
    to: "if (peer.uid === '')",
    without: 'a Job of another owner says what is on a disk',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/cluster/observe/read-disk-logs.ts',
    from: 'if (said.memberId !== record?.memberId || said.clusterId !== record.clusterId)',
    to: 'if (record === undefined)',
    without: 'the log of another member is shown as that of this one',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/cluster/observe/read-disk-logs.ts',
    from: 'find(({ name }) => name === logJobContainer)',
    to: '[0]',
    without: 'a container that a webhook put beside ours says what is on a disk',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/cluster/observe/read-disk-logs.ts',
    from: 'readersOf(slot, pods) < mostReaders',
    to: 'readersOf(slot, pods) >= 0',
    without: 'a pod that is replaced again and again brings Jobs without end, and no approval is asked for',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/cluster/observe/read-disk-logs.ts',
    from: 'if (age > 2 * logDeadline * 1000)',
    to: 'if (age < 0)',
    without: 'a Job that is suspended keeps a person from approving',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/cluster/know/recovery/disk-logs.ts',
    from: 'pod: pod?.uid, since',
    to: 'since',
    without: 'a log that an earlier pod has written on since is shown as it was',
    killers: [readsLogs],
  },
  {
    file: 'reconcile/cluster/know/recovery/disk-logs.ts',
    from: 'since, gone });',
    to: 'gone });',
    without: 'a log that was read in an earlier loss is shown, although its member has served since',
    killers: [readsLogs],
  },
  {
    file: 'reconcile/cluster/know/recovery/lost.ts',
    from: '...(disks.length > 0 && { disks })',
    to: '...(disks.length < 0 && { disks })',
    without: 'an approval fits disks that were not shown',
    killers: [readsLogs],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/read-logs.ts',
    from: '!one.log && !entryFor(reading([one]), refused)',
    to: '!one.log',
    without: 'a Job that the API server refuses keeps a person from approving',
    killers: [readsLogs],
  },
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
    file: 'reconcile/cluster/act/actions/recovery/begin-recovery.ts',
    from: ' && before.raftIndex === one.raftIndex',
    to: '',
    without: 'a recovery goes on although another survivor has written since its disk was read (I9)',
    killers: [recovery],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/await-quorum.ts',
    from: 'const loss = found && byDisks(found);',
    to: 'const loss = found;',
    without: 'the survivor is chosen by what it says it has applied, and not by what its disk keeps',
    killers: [readsLogs],
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
