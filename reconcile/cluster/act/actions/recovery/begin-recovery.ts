import { annotations } from '../../../../../manifests/render/names.ts';
import { type Program, together } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import { moved } from '../../../know/outcome.ts';
import { byData, type Held } from '../../../know/recovery/held.ts';
import { askRemains, seeWhereTheyRun } from '../../requests/before-recovery.ts';
import type { LogSeen } from '../../requests/host.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';
import { outvote } from './outvote-members.ts';

type BeginRecovery = ActionOf<'begin-recovery'>;

/**
 * Consumes an approval: the chosen volume is marked as the one to go on from, then all others as outvoted. From the
 * first of these marks on the recovery is finished, by any invocation.
 *
 * Guards I9. Asked again just before: no quorum answers, or has served since the approval, and no voter that answers
 * has more data than the chosen one.
 */
export const beginRecovery = defineAction('begin-recovery', {
  target: ({ volume }) => volume.name,
  *run(action, cluster) {
    const { volume, id, memberId, clusterId, approval, volumes } = action;
    if (cluster.annotations[annotations.recoverQuorum] !== approval) throw moved('the approval was taken back');
    const { found, lastSeenOn } = yield* together({
      found: liveVolume(volume.name),
      lastSeenOn: seeWhereTheyRun({ known: {} }),
    });
    const { uid, record, readAt } = found;
    if (uid !== volume.uid) throw moved(`volume ${volume.name} is another one than was looked at`);
    if (record.memberId !== memberId || record.clusterId !== clusterId)
      throw moved(`volume ${volume.name} is that of member ${record.memberId ?? 'unknown'}, and not of ${memberId}`);
    const outvoted = [...(record.outvoted ?? []), ...action.outvoted];
    yield* requireStillLost(action);
    yield* writeRecord({
      readAt,
      record: { ...record, state: 'recovering', outvoted, recovery: { id, attempt: 0, lastSeenOn } },
    });
    yield* outvote(volumes);
  },
});

function* requireStillLost({ volume, memberId, raftIndex, voters, shown = [] }: BeginRecovery): Program {
  const { quorum, logs } = yield* askRemains({});
  if (quorum) throw moved('a quorum answers again');
  const chosen = logs.find((one) => one.memberId === memberId);
  if (!chosen) throw moved(`${volume.name} does not answer any more`);
  // Each leader adds an entry: the approval covers data that cannot be seen, and no later writes.
  if (chosen.raftIndex !== raftIndex) throw moved(`${volume.name} has taken writes since it was approved`);
  const wasShown = (one: LogSeen) =>
    shown.some((before) => before.memberId === one.memberId && before.raftIndex === one.raftIndex);
  const isFurther = (one: LogSeen) =>
    !wasShown(one) && voters.includes(one.memberId) && byData(heldIn(one), heldIn(chosen)) < 0;
  if (logs.some(isFurther)) throw moved(`${volume.name} is not the one with the most data any more`);
}

function heldIn({ raftIndex, revision, isSettled }: LogSeen): Held {
  return { index: BigInt(raftIndex), revision: BigInt(revision), isSettled };
}
