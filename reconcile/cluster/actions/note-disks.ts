import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, volumeAsSeen } from './context.ts';
import { diskBehind, requireSealedDisk } from './live-disk.ts';
import { writeRecord } from './volume-state.ts';

/** Volumes of members that are well remember what is behind them: sealed before there was such a note, or the same disk under a new name. */
export async function noteDisks({ volumes }: ActionOf<'note-disks'>, context: ActContext): Promise<void> {
  await Promise.all(
    volumes.map(async (volume) => {
      const found = await volumeAsSeen(context, volume);
      if (!found || found.claim.metadata.deletionTimestamp !== undefined)
        throw moved(`volume ${volume.name} has gone since it was looked at`);
      await requireSealedDisk(found, context);
      const disk = await diskBehind(found.claim, context);
      if (disk) await writeRecord(found.claim, { ...found.record, disk }, context);
    }),
  );
}
