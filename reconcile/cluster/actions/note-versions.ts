import { isHigher } from '../../../manifests/api/version.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, liveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Volumes remember what their members run, now that nobody is to change its version any more. A crash in between leaves the
 * others with what may have run, which is no less true.
 */
export async function noteVersions(action: ActionOf<'note-versions'>, context: ActContext): Promise<void> {
  await Promise.all(action.members.map((member) => noteVersion(member, action, context)));
}

async function noteVersion(
  { name, memberId, version }: ActionOf<'note-versions'>['members'][number],
  { clusterId, since }: ActionOf<'note-versions'>,
  context: ActContext,
): Promise<void> {
  const { claim, record } = await liveVolume(context, name);
  if (record.state !== 'sealed' || record.memberId !== memberId || record.clusterId !== clusterId)
    throw moved(`volume ${name} is another member's by now`);
  const { nextVersion: _, ...rest } = record;
  await writeRecord(claim, { ...rest, version, ...(since && { minorSince: since }) }, context);
}

/**
 * Before a version may be started for the first time, its volume says that it may have been: a resource that is re-created
 * must know what ran.
 */
export async function noteNextVersion(name: string, version: string, context: ActContext): Promise<void> {
  const { claim, record } = await liveVolume(context, name);
  if (record.state === 'bootstrapping' || !isHigher(version, record.version)) return;
  if (record.nextVersion !== undefined && !isHigher(version, record.nextVersion)) return;
  await writeRecord(claim, { ...record, nextVersion: version }, context);
}

/** Before a member goes back to a lower version: the next pod of the higher one, if there is one, would not show that it has run. */
export async function noteRan(name: string, version: string, context: ActContext): Promise<void> {
  const { claim, record } = await liveVolume(context, name);
  if (record.state === 'bootstrapping' || !isHigher(version, record.version)) return;
  await writeRecord(claim, { ...record, version }, context);
}
