import { each } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/**
 * Volumes remember what their members run, now that no member is to change its version any more. A crash in between
 * leaves the others with what may have run, which is no less true.
 */
export const noteVersions = defineAction('note-versions', {
  target: ({ members }) => namesOf(members),
  *run({ members, clusterId, since }) {
    yield* each(members, function* ({ name, memberId, version }) {
      const { record, readAt } = yield* liveVolume(name);
      if (record.state !== 'sealed' || record.memberId !== memberId || record.clusterId !== clusterId)
        throw moved(`volume ${name} is another member's by now`);
      const { nextVersion: _, rollsTo: __, ...rest } = record;
      yield* writeRecord({ readAt, record: { ...rest, version, ...(since && { minorSince: since }) } });
    });
  },
});
