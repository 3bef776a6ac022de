import { isDeepStrictEqual } from 'node:util';
import type { HibernationBackup } from '../../../../../manifests/render/volume-record.ts';
import { each, type Program } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import { moved } from '../../../know/outcome.ts';
import type { Ref } from '../../../know/ref.ts';
import { askMembers } from '../../requests/leadership.ts';
import { deleteConfigMap, deleteStatefulSet } from '../../requests/removing.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/** Every volume is told before the first member stops: a step that finds it then knows that nothing was lost. */
export const hibernateMembers = defineAction('hibernate-members', {
  target: ({ volumes }) => namesOf(volumes),
  *run({ volumes, statefulSets, after }) {
    const backup = after && (yield* lastBackup(after, statefulSets));
    yield* each(volumes, (volume) => turn(volume, 'sealed', 'hibernating', backup));
    yield* each(statefulSets, deleteStatefulSet);
  },
});

/** Guards I12: from here on no etcd starts, and what runs is asked again. `undefined`: it may lack the last write. */
function* lastBackup(
  { configMaps, ...backup }: NonNullable<ActionOf<'hibernate-members'>['after']>,
  statefulSets: readonly Ref[],
): Program<HibernationBackup | undefined> {
  yield* each(configMaps, deleteConfigMap);
  const members = yield* askMembers({});
  const holds = BigInt(backup.revision ?? -1);
  const isLast = statefulSets.every(({ name }) =>
    members.some((member) => member.name === name && BigInt(member.revision) <= holds),
  );
  return isLast ? backup : undefined;
}

/**
 * What makes them members that may be started, sealed as they were; `start-members` does that. No backup is of all
 * that they hold any more.
 */
export const wakeMembers = defineAction('wake-members', {
  target: ({ volumes }) => namesOf(volumes),
  parts: (action) => action.volumes.map((volume) => ({ ...action, volumes: [volume] })),
  *run({ volumes }) {
    yield* each(volumes, (volume) => turn(volume, 'hibernating', 'sealed'));
  },
});

function* turn(
  { name, uid }: Ref,
  from: 'sealed' | 'hibernating',
  to: 'sealed' | 'hibernating',
  hibernationBackup?: HibernationBackup,
): Program {
  const { record, readAt, ...volume } = yield* liveVolume(name);
  if (volume.uid !== uid) throw moved(`volume ${name} is another one than was looked at`);
  const { hibernationBackup: former, ...rest } = record;
  if (record.state === to && isDeepStrictEqual(former, hibernationBackup)) return;
  if (record.state !== from && record.state !== to) throw moved(`volume ${name} is ${record.state}`);
  yield* writeRecord({ readAt, record: { ...rest, state: to, ...(hibernationBackup && { hibernationBackup }) } });
}
