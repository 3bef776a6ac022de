import { isAspirant, mayTakeOver } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import type { Ref } from '../../../know/ref.ts';
import { liveVolume, readVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/**
 * The missing marks, where an invocation died between two of them, and those of PVCs that were restored since; and
 * those of a whole cluster that is given up, when the data that take its place are there.
 */
export const outvoteMembers = defineAction('outvote-members', {
  target: ({ volumes }) => namesOf(volumes),
  parts: (action) => action.volumes.map((volume) => ({ ...action, volumes: [volume] })),
  *run({ volume, volumes, replacedAt }) {
    const { record } = yield* liveVolume(volume.name);
    if (record.state === 'restored' && !mayTakeOver(record))
      throw moved(`what is on volume ${volume.name} was not tried`);
    const outvoted = (record.outvoted ?? []).map((one) => one.memberId);
    const of = { memberIds: new Set(outvoted), clusterIds: new Set(isAspirant(record) ? [] : record.gaveUp) };
    yield* outvote(volumes, record.state === 'recovering' ? undefined : of, replacedAt);
  },
});

/**
 * One after the other: a crash leaves whole marks. A PVC that is being deleted is marked as well: it may be restored.
 */
export function* outvote(
  volumes: readonly Ref[],
  /** Only these members, and all of these clusters. */
  only?: { readonly memberIds: ReadonlySet<string>; readonly clusterIds: ReadonlySet<string> },
  replacedAt?: string,
): Program {
  for (const { name, uid } of volumes) {
    const found = yield* readVolume({ name });
    if (found?.uid !== uid) continue;
    const { record, readAt } = found;
    if (only && !only.memberIds.has(record.memberId ?? '') && !only.clusterIds.has(record.clusterId ?? ''))
      throw moved(`volume ${name} is another member's`);
    const since = replacedAt !== undefined && { replacedAt };
    yield* writeRecord({ readAt, record: { ...record, state: 'superseded', ...since } });
  }
}
