import { resources } from '../../kube.ts';
import type { ActionOf, Ref } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, deleteWithDependents, liveVolume } from './context.ts';
import { writeRecord } from './volume-state.ts';

/** Every volume is told before the first member stops: whoever finds it then knows that nothing was lost. */
export async function hibernateMembers(
  { volumes, statefulSets }: ActionOf<'hibernate-members'>,
  context: ActContext,
): Promise<void> {
  await turn(volumes, 'sealed', 'hibernating', context);
  await deleteWithDependents(context, resources.statefulSets, statefulSets);
}

/** What makes them members that may be started, sealed as they were; `start-members` does that. */
export async function wakeMembers({ volumes }: ActionOf<'wake-members'>, context: ActContext): Promise<void> {
  await turn(volumes, 'hibernating', 'sealed', context);
}

async function turn(
  volumes: readonly Ref[],
  from: 'sealed' | 'hibernating',
  to: 'sealed' | 'hibernating',
  context: ActContext,
): Promise<void> {
  await Promise.all(
    volumes.map(async ({ name, uid }) => {
      const { claim, record } = await liveVolume(context, name);
      if (claim.metadata.uid !== uid) throw moved(`volume ${name} is another one than was looked at`);
      if (record.state === to) return;
      if (record.state !== from) throw moved(`volume ${name} is ${record.state}`);
      await writeRecord(claim, { ...record, state: to }, context);
    }),
  );
}
