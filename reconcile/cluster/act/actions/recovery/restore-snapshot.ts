import { together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { askWhatRuns } from '../../requests/before-recovery.ts';
import { livePeer } from '../../requests/objects.ts';
import { createRestoreJob } from '../../requests/recovery.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';
import { alsoSeen } from './also-seen.ts';

/**
 * Makes the Job. Before that its volume records the attempt's number, which no other Job gets, and what it is made of:
 * a Job of an outdated invocation has an old number, and does nothing beside a later one's data.
 *
 * Guards I5. Read again just before: nothing of this member runs, and its volume is still to be restored.
 */
export const restoreSnapshot = defineAction('restore-snapshot', {
  target: ({ volume }) => volume.name,
  *run({ volume, peer: ref, id, attempt, source, bump, floor, trial }) {
    const { name } = volume;
    const { peer, found, runs } = yield* together({
      peer: livePeer(name),
      found: liveVolume(name),
      runs: askWhatRuns({ name }),
    });
    if (peer.uid !== ref.uid || found.uid !== volume.uid) throw moved(`${name} was recreated`);
    if (runs) throw moved(`${name} runs`);
    const { record, readAt } = found;
    if (record.state !== 'restoring' || record.recovery?.attempt !== attempt - 1)
      throw moved(`volume ${name} is ${record.state}, or another invocation restores it`);
    // No member ever ran on it: what runs first is what the Job is made for.
    const lastSeenOn = yield* alsoSeen(record);
    const recovery = { id, attempt, lastSeenOn };
    yield* writeRecord({
      readAt,
      record: {
        ...record,
        restoredFrom: source,
        version: peer.inputs.version,
        recovery,
        ...(floor !== undefined && { revisionFloor: floor }),
      },
    });
    const { token, goesBackTo } = record;
    const resolved = goesBackTo && { resolved: goesBackTo.snapshot };
    yield* createRestoreJob({ peer: peer.readAt, id, attempt, token, bump, trial, ...resolved });
  },
});
