import { parseQuantity } from '../../../../../manifests/api/quantity.ts';
import { moved } from '../../../know/outcome.ts';
import { growVolume } from '../../requests/changing.ts';
import { livePeer } from '../../requests/objects.ts';
import { writeInputs } from '../../requests/templates.ts';
import { readPvc } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/** Asks for larger volumes. The storage driver does the rest, while the member runs. Then the peer says so. */
export const growVolumes = defineAction('grow-volumes', {
  target: ({ volumes }) => namesOf(volumes),
  *run({ volumes }) {
    for (const { name, uid, size } of volumes) {
      const found = yield* readPvc({ name });
      if (!found || found.leaving) throw moved(`volume ${name} has gone since it was looked at`);
      if (found.uid !== uid) continue;
      if (parseQuantity(found.size) < parseQuantity(size)) yield* growVolume({ readAt: found.readAt, size });
      const { inputs, readAt } = yield* livePeer(name);
      if (inputs.storage.size === size) continue;
      yield* writeInputs({ readAt, inputs: { ...inputs, storage: { ...inputs.storage, size } } });
    }
  },
});
