import { isSameDisk } from '../../../../../manifests/render/sealed-disk.ts';
import { each } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { readDiskBehind } from '../../requests/disks.ts';
import { volumeAsSeen, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';
import { requireSealedDisk } from './following.ts';

/**
 * Volumes of members that are well remember what is behind them: sealed before there was such a note, or the same disk
 * under a new name.
 */
export const noteDisks = defineAction('note-disks', {
  target: ({ volumes }) => namesOf(volumes),
  parts: (action) => action.volumes.map((volume) => ({ ...action, volumes: [volume] })),
  *run({ volumes }) {
    yield* each(volumes, function* (volume) {
      const { name } = volume;
      const found = yield* volumeAsSeen(volume);
      if (!found || found.leaving) throw moved(`volume ${name} has gone since it was looked at`);
      yield* requireSealedDisk(name, found);
      const behind = yield* readDiskBehind({ readAt: found.readAt });
      const disk = volume.disk ?? behind;
      if (!disk || !behind) return;
      if (!isSameDisk(disk, behind)) throw moved(`volume ${name} has another disk than it was looked at with`);
      yield* writeRecord({ readAt: found.readAt, record: { ...found.record, disk } });
    });
  },
});
