import type { ActionOf, Ref } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, liveVolume, volumeAsSeen } from './context.ts';
import { writeRecord } from './volume-state.ts';

/** The rest of the marks, where whoever began a recovery has died between two of them, and those of claims that were restored since. */
export async function outvoteMembers(
  { volume, volumes }: ActionOf<'outvote-members'>,
  context: ActContext,
): Promise<void> {
  const { record } = await liveVolume(context, volume.name);
  const ids = record.state === 'recovering' ? undefined : new Set((record.outvoted ?? []).map((one) => one.memberId));
  await outvote(volumes, context, ids);
}

/** One after the other: whoever dies leaves whole marks. What is on its way out is marked as well: it may be restored. */
export async function outvote(
  volumes: readonly Ref[],
  context: ActContext,
  /** Nobody but these. */
  ids?: ReadonlySet<string>,
): Promise<void> {
  for (const volume of volumes) {
    const found = await volumeAsSeen(context, volume);
    if (ids && found && !ids.has(found.record.memberId ?? '')) throw moved(`volume ${volume.name} is another member's`);
    if (found) await writeRecord(found.claim, { ...found.record, state: 'superseded' }, context);
  }
}
