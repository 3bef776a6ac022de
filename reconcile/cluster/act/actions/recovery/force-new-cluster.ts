import { together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { askWhatRuns } from '../../requests/before-recovery.ts';
import { livePeer } from '../../requests/objects.ts';
import { createRecoveryJob } from '../../requests/recovery.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';
import { noteNextVersion } from '../rolling/next-version.ts';

/**
 * Makes the Job. Before that its volume records the attempt's number, which no other Job gets: a Job of an outdated
 * invocation has an old number, and ends before it does anything.
 *
 * Guards I10. Read again just before: no pod of this member runs, and the volume is still to be recovered.
 */
export const forceNewCluster = defineAction('force-new-cluster', {
  target: ({ volume }) => volume.name,
  *run({ volume, peer: ref, id, attempt, withoutCopy, begins }) {
    const { name } = volume;
    const { peer, found, runs } = yield* together({
      peer: livePeer(name),
      found: liveVolume(name),
      runs: askWhatRuns({ name }),
    });
    if (peer.uid !== ref.uid || found.uid !== volume.uid) throw moved(`${name} was recreated`);
    if (runs) throw moved(`${name} runs`);
    const { record, readAt } = found;
    const { recovery } = record;
    if (record.state !== 'recovering' || recovery?.id !== id || recovery.attempt !== attempt - 1)
      throw moved(`volume ${name} is ${record.state}, or another invocation recovers it`);
    yield* writeRecord({ readAt, record: { ...record, recovery: { ...recovery, attempt } } });
    yield* noteNextVersion(name, peer.inputs.version);
    yield* createRecoveryJob({ peer: peer.readAt, id, attempt, withoutCopy, begins });
  },
});
