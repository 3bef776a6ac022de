import type { Ref } from '../../../know/action.ts';
import { moved } from '../../../know/outcome.ts';
import type { Program } from '../../requests/program.ts';
import { liveVolume, readVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/** The missing marks, where an invocation died between two of them, and those of PVCs that were restored since. */
export const outvoteMembers = defineAction('outvote-members', {
  target: ({ volumes }) => namesOf(volumes),
  parts: (action) => action.volumes.map((volume) => ({ ...action, volumes: [volume] })),
  *run({ volume, volumes }) {
    const { record } = yield* liveVolume(volume.name);
    const ids = record.state === 'recovering' ? undefined : new Set((record.outvoted ?? []).map((one) => one.memberId));
    yield* outvote(volumes, ids);
  },
});

/**
 * One after the other: a crash leaves whole marks. A PVC that is being deleted is marked as well: it may be restored.
 */
export function* outvote(
  volumes: readonly Ref[],
  /** Only these members. */
  ids?: ReadonlySet<string>,
): Program {
  for (const { name, uid } of volumes) {
    const found = yield* readVolume({ name });
    if (found?.uid !== uid) continue;
    const { record, readAt } = found;
    if (ids && !ids.has(record.memberId ?? '')) throw moved(`volume ${name} is another member's`);
    yield* writeRecord({ readAt, record: { ...record, state: 'superseded' } });
  }
}
