import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { together } from '../../../../requests/program.ts';
import type { BegunLife } from '../../../know/actions/recovery.ts';
import { moved } from '../../../know/outcome.ts';
import { type Attempt, deleteJob, hasSucceeded, readAttempt } from '../../requests/recovery.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * The Job has done its work. First its volume records that: from then on no other Job is made, because clients may have
 * been admitted. Then the Job is deleted.
 *
 * Of a new life that one write is the point of no return: the volume is that of its first member, as after a rollback
 * whose data are there, and every volume of the cluster before it is left behind.
 */
export const concludeRecovery = defineAction('conclude-recovery', {
  target: ({ volume }) => volume.name,
  *run({ volume, job, pod, id, attempt, begun }) {
    const { name } = volume;
    const asked = readAttempt({ name, pod: pod?.name ?? job.name });
    const { ran, found } = yield* together({ ran: asked, found: liveVolume(name) });
    const isDone = begun ? hasBegun(ran, `${id}/${attempt}`) : ran.pod?.uid === pod?.uid && ran.pod?.ready === true;
    if (ran.job?.uid !== job.uid || !isDone) throw moved(`Job ${job.name} has not come to its end yet`);
    if (found.uid !== volume.uid) throw moved(`volume ${name} is another one than was looked at`);
    const { record, readAt } = found;
    const { recovery } = record;
    if (record.state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt)
      throw moved(`volume ${name} is ${record.state}, or at another attempt`);
    yield* writeRecord({ readAt, record: begun ? firstOf(name, begun, record) : { ...record, state: 'recovered' } });
    yield* deleteJob({ name, uid: job.uid });
  },
});

function hasBegun(ran: Attempt, attempt: string): boolean {
  const { begins, completed, attempt: found } = ran.job ?? {};
  return begins === true && found === attempt && (completed === true || hasSucceeded(ran));
}

/** It has neither cluster ID nor member ID before its member is seen, and all others had ended before its Job. */
function firstOf(name: string, begun: BegunLife, record: VolumeRecord): VolumeRecord {
  const { clusterId: _, memberId, nextVersion: __, rollsTo: ___, minorSince: ____, ...kept } = record;
  // Of the disk of another one that is gone on from, should this one be lost.
  const outvoted = [...(record.outvoted ?? []), ...(memberId === undefined ? [] : [{ name, memberId }])];
  const recovery = record.recovery && { recovery: { ...record.recovery, lastSeenOn: {} } };
  return { ...kept, ...begun, outvoted, state: 'restored', trial: 'recovered', ...recovery };
}
