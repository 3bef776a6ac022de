import { moved } from '../../../know/outcome.ts';
import { readPod } from '../../requests/pods.ts';
import { deleteVolume, readPvc } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/**
 * Deletes volumes of a cluster that is itself being deleted, or such as were never bound.
 *
 * Guards I4. Each is read again: it must be the one that was decided about, no pod may have it open, and where the
 * cluster lives on it must still be unbound. The resourceVersion closes the gap between that look and the deletion.
 */
export const deleteVolumes = defineAction('delete-volumes', {
  target: ({ volumes }) => namesOf(volumes),
  parts: (action) => action.volumes.map((volume) => ({ ...action, volumes: [volume] })),
  *run({ volumes }, { deleting }) {
    for (const { name, uid } of volumes) {
      const found = yield* readPvc({ name });
      if (found?.uid !== uid || found.leaving) continue;
      if (!deleting && found.bound) throw moved(`volume ${name} has been bound since it was looked at`);
      if (deleting && (yield* readPod({ name }))) throw moved(`the pod of ${name} still has its volume`);
      yield* deleteVolume({ uid, readAt: found.readAt });
    }
  },
});
