import type { Mutant } from '../mutant.ts';

const actions = 'test/unit/cluster/actions/restore.test.ts';
const rules = 'test/unit/cluster/restore-snapshot.test.ts';
const rollbacks = 'test/unit/cluster/roll-back.test.ts';
const told = 'test/unit/cluster/world/roll-back.test.ts';

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
  {
    file: 'reconcile/cluster/act/actions/recovery/conclude-restore.ts',
    from: "if (record.state !== 'restoring' || recovery?.id !== id || recovery.attempt !== attempt)",
    to: 'if (!record)',
    without: 'a restore is concluded that is over, or at another attempt (I11)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/call-off-rollback.ts',
    from: `    if (found && !found.leaving) yield* deleteVolume({ uid: found.uid, readAt: found.readAt });
    if (peer) yield* deletePeer(peer);`,
    to: `    if (peer) yield* deletePeer(peer);
    if (found && !found.leaving) yield* deleteVolume({ uid: found.uid, readAt: found.readAt });`,
    without: 'a late invocation stops the member of a rollback that was approved again (I7)',
    killers: [actions, told],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/drop-peers.ts',
    from: "if (record.state !== 'restored' || !record.gaveUp)",
    to: 'if (!record)',
    without: 'peers of a cluster are deleted that nothing has taken the place of (I11)',
    killers: [actions],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/hand-over.ts',
    from: 'mark(situation) ?? stop(',
    to: 'stop(',
    without: 'members of a cluster that was given up are stopped before their volumes say so (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/hand-over.ts',
    from: '(hasDeparted(slot) || !slot.volume)',
    to: 'hasDeparted(slot)',
    without: 'a member without a volume runs on beside the cluster that took the place of its own (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/roll-back.ts',
    from: 'if (another) return callOff(another);',
    to: '',
    without: 'a snapshot is restored twice beside one cluster (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/roll-back.ts',
    from: 'return recordOf(slot)?.gaveUp?.at(-1) === approved.clusterId;',
    to: 'return recordOf(slot)?.gaveUp !== undefined;',
    without: 'a rollback that gives up another etcd cluster goes on (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/roll-back.ts',
    from: 'if (!approved || !volume || volume.leaving || volume.lost) return false;',
    to: 'if (!approved || !volume) return false;',
    without: 'a rollback waits for ever for a volume that goes, or is lost',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/know/rollback.ts',
    from: 'return gaveUpBy(slots).includes(clusterId);',
    to: 'return gaveUpBy(slots).length > 1 && clusterId !== undefined;',
    without: 'a rollback that is over asks for its approval again (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/know/rollback.ts',
    from: 'if (recovering) return',
    to: 'if (!slots) return',
    without: 'a rollback begins in the midst of a recovery (I10)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/know/outvoted.ts',
    from: 'return isGivenUp(by, slot) || (',
    to: 'return (',
    without: 'a volume of a cluster that was given up is believed when it comes back (I11)',
    killers: [rollbacks],
  },
  {
    file: 'reconcile/cluster/know/life.ts',
    from: "return isBeforeFirstStart(record) || record.state === 'joining';",
    to: 'return isBeforeFirstStart(record);',
    without: 'a late PVC of an earlier cluster opens the Service of the next one before that is sealed (I5)',
    killers: ['test/unit/cluster/life.test.ts'],
  },
];
