import { together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { deleteJob, readAttempt } from '../../requests/recovery.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * The Job has done its work. First its volume records that: from then on no other Job is made, because clients may have
 * been admitted. Then the Job is deleted.
 */
export const concludeRecovery = defineAction('conclude-recovery', {
  target: ({ volume }) => volume.name,
  *run({ volume, job, pod, id, attempt }) {
    const { name } = volume;
    const { ran, found } = yield* together({ ran: readAttempt({ name, pod: pod.name }), found: liveVolume(name) });
    if (ran.job?.uid !== job.uid || ran.pod?.uid !== pod.uid || !ran.pod.ready)
      throw moved(`Job ${job.name} has not come to its end yet`);
    if (found.uid !== volume.uid) throw moved(`volume ${name} is another one than was looked at`);
    const { record, readAt } = found;
    const { recovery } = record;
    if (record.state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt)
      throw moved(`volume ${name} is ${record.state}, or at another attempt`);
    yield* writeRecord({ readAt, record: { ...record, state: 'recovered' } });
    yield* deleteJob({ name, uid: job.uid });
  },
});
