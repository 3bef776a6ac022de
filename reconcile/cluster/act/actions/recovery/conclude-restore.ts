import { annotations } from '../../../../../manifests/render/names.ts';
import { moved } from '../../../know/outcome.ts';
import { together } from '../../requests/program.ts';
import { deleteJob, readAttempt } from '../../requests/recovery.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * The Job has done its work. First its volume records that: from then on no other Job is made, because the member may
 * start. Then the Job is deleted.
 *
 * A rollback is finished from here on: the approval is looked at for the last time.
 */
export const concludeRestore = defineAction('conclude-restore', {
  target: ({ volume }) => volume.name,
  *run({ volume, job, id, attempt, approval }, { annotations: given }) {
    const { name } = volume;
    if (approval !== undefined && given[annotations.rollBack] !== approval) throw moved('the approval was taken back');
    const { ran, found } = yield* together({
      ran: readAttempt({ name, pod: job.name, work: 'restore' }),
      found: liveVolume(name),
    });
    if (ran.job?.uid !== job.uid || !ran.job.completed || ran.job.attempt !== `${id}/${attempt}`)
      throw moved(`Job ${job.name} has not come to its end`);
    if (found.uid !== volume.uid) throw moved(`volume ${name} is another one than was looked at`);
    const { record, readAt } = found;
    const { recovery } = record;
    if (record.state !== 'restoring' || recovery?.id !== id || recovery.attempt !== attempt)
      throw moved(`volume ${name} is ${record.state}, or at another attempt`);
    yield* writeRecord({ readAt, record: { ...record, state: 'restored' } });
    yield* deleteJob({ name, uid: job.uid, work: 'restore' });
  },
});
