import { annotations } from '../../../../../manifests/render/names.ts';
import type { Trial, VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { together } from '../../../../requests/program.ts';
import { waivesTrial } from '../../../know/backups/rollback.ts';
import { moved } from '../../../know/outcome.ts';
import { type Attempt, askRestoresEnded, deleteJob, hasSucceeded, readAttempt } from '../../requests/recovery.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { startMembers } from '../birth/start-members.ts';
import { defineAction } from '../define.ts';
import { alsoSeen } from './also-seen.ts';

/**
 * The Job has done its work. First its volume records that: from then on no other Job is made, because the member may
 * start. Then the Job is deleted, and the member started; not while a pod may still have the volume: the next step sees
 * to that.
 *
 * A rollback is finished from here on: the approval is looked at for the last time. Its volume also records that an
 * etcd has served a copy of the data, as the Job shows it, or that the approval goes without: nothing ends before.
 */
export const concludeRestore = defineAction('conclude-restore', {
  target: ({ volume }) => volume.name,
  *run({ volume, job, pod, id, attempt, approval, starts }, cluster) {
    const { name } = volume;
    if (approval !== undefined && cluster.annotations[annotations.rollBack] !== approval)
      throw moved('the approval was taken back');
    const { ran, found } = yield* together({
      ran: readAttempt({ name, pod: pod?.name ?? job.name, work: 'restore' }),
      found: liveVolume(name),
    });
    if (ran.job?.uid !== job.uid || ran.job.attempt !== `${id}/${attempt}` || !(ran.job.completed || hasSucceeded(ran)))
      throw moved(`Job ${job.name} has not come to its end`);
    if (found.uid !== volume.uid) throw moved(`volume ${name} is another one than was looked at`);
    const { record, readAt } = found;
    const { recovery } = record;
    if (record.state !== 'restoring' || recovery?.id !== id || recovery.attempt !== attempt)
      throw moved(`volume ${name} is ${record.state}, or at another attempt`);
    const trial = approval === undefined ? {} : { trial: trialOf(ran, approval) };
    const lastSeenOn = yield* alsoSeen(record);
    const done: VolumeRecord = { ...record, state: 'restored', recovery: { ...recovery, lastSeenOn }, ...trial };
    yield* writeRecord({ readAt, record: done });
    yield* deleteJob({ name, uid: job.uid, work: 'restore' });
    if (!starts || !(yield* askRestoresEnded({ name }))) return;
    yield* startMembers.run({ kind: 'start-members', peers: [name] }, cluster);
  },
});

function trialOf({ job }: Attempt, approval: string): Trial {
  if (job?.trial) return 'passed';
  if (!waivesTrial(approval)) throw moved('its Job has no trial of what it restored');
  return 'waived';
}
