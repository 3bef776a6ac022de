import type { Mutant } from '../mutant.ts';

const actions = 'test/unit/cluster/actions/restore.test.ts';
const rules = 'test/unit/cluster/restore-snapshot.test.ts';
const rollbacks = 'test/unit/cluster/roll-back.test.ts';

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
  {
    file: 'reconcile/cluster/know/rollback.ts',
    from: 'return rollbackGiven(seen) === wanted.approval && heldUpBy(seen) === undefined ? wanted : undefined;',
    to: 'return wanted;',
    without: 'a rollback begins whatever was approved (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/know/rollback.ts',
    from: 'if (!wanted || wanted.clusterId !== clusterToGiveUp(seen, life)) return undefined;',
    to: 'if (!wanted) return undefined;',
    without: 'a rollback gives up another etcd cluster than the one that was approved (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/hand-over.ts',
    from: 'return awaitEnds(former, { ...recovery, lastSeenOn }, situation, besides) ?? dropPeers(chosen, former, gaveUp);',
    to: 'return recovery && lastSeenOn && besides !== "" ? dropPeers(chosen, former, gaveUp) : undefined;',
    without: 'members of two etcd clusters run under one name (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/begin-rollback.ts',
    from: 'if (cluster.annotations[annotations.rollBack] !== approval)',
    to: 'if (!approval)',
    without: 'a rollback begins although its approval was taken back (I11)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/conclude-restore.ts',
    from: 'if (approval !== undefined && given[annotations.rollBack] !== approval)',
    to: 'if (!given)',
    without: 'a cluster is given up although the approval was taken back (I11)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/call-off-rollback.ts',
    from: 'if (found && !isAspirant(found.record))',
    to: 'if (found && !found.record)',
    without: 'a volume is deleted on which its member may have started (I4)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/drop-peers.ts',
    from: "if (found && found.record.state !== 'superseded')",
    to: 'if (found && !found.record)',
    without: 'the peer of a member is deleted that was not given up (I4)',
    killers: [actions],
  },
];
