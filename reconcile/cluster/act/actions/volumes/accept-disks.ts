import { annotations } from '../../../../../manifests/render/names.ts';
import { moved } from '../../../know/outcome.ts';
import { readDiskBehind } from '../../requests/disks.ts';
import { volumeAsSeen, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';
import { followRecord } from './following.ts';

/**
 * As a person approved: what is behind these PVCs by now counts as what their members were sealed on. An invocation
 * that dies in between leaves whole notes, and the approval fits the rest.
 *
 * Guards I5: the approval is there still, and each PVC has the disk that it was given for.
 */
export const acceptDisks = defineAction('accept-disks', {
  target: ({ volumes }) => namesOf(volumes),
  *run({ approval, clusterId, volumes }, cluster) {
    if (cluster.annotations[annotations.acceptDisks] !== approval) throw moved('the approval was taken back');
    for (const volume of volumes) {
      const { name } = volume;
      const found = yield* volumeAsSeen(volume);
      if (!found || found.leaving) throw moved(`volume ${name} has gone since it was looked at`);
      const { record } = found;
      if (record.memberId !== volume.memberId || record.clusterId !== clusterId)
        throw moved(`volume ${name} is that of member ${record.memberId ?? 'unknown'}`);
      const disk = yield* readDiskBehind({ readAt: found.readAt });
      if (disk?.pv !== volume.pv) throw moved(`volume ${name} has another disk than was approved`);
      const { disk: _, ...rest } = record;
      const accepted = { ...rest, ...(disk && { disk }) };
      const readAt = yield* writeRecord({ readAt: found.readAt, record: accepted });
      yield* followRecord(name, { ...found, record: accepted, readAt });
    }
  },
});
