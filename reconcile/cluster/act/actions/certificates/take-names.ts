import { annotations } from '../../../../../manifests/render/names.ts';
import { moved } from '../../../know/outcome.ts';
import { readLeaf } from '../../requests/leaves.ts';
import { volumeAsSeen, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/**
 * Volumes record that their members let in names only. An invocation that dies in between leaves whole records, and the
 * approval fits the rest: until all have it, no member lets in less than before.
 *
 * Guards I1: the approval is there still, and each leaf is the one that was seen to have its name.
 */
export const takeNames = defineAction('take-names', {
  target: ({ volumes }) => namesOf(volumes),
  *run({ approval, volumes, allowedNames, seen }, cluster) {
    if (approval !== undefined && cluster.annotations[annotations.takeNames] !== approval)
      throw moved('the approval was taken back');
    for (const { secretName, fingerprint } of seen) {
      const leaf = yield* readLeaf({ name: secretName });
      if (leaf?.facts?.fingerprint !== fingerprint)
        throw moved(`Secret ${secretName} has another certificate than was looked at`);
    }
    for (const volume of volumes) {
      const found = yield* volumeAsSeen(volume);
      if (!found || found.leaving) throw moved(`volume ${volume.name} has gone since it was looked at`);
      if (found.record.allowedNames) continue;
      yield* writeRecord({ readAt: found.readAt, record: { ...found.record, allowedNames } });
    }
  },
});
