import { restoreLabelsOf } from '../../requests/cluster.ts';
import { defineAction, namesOf } from '../define.ts';

/** Our labels come back; those of others stay. */
export const restoreLabels = defineAction('restore-labels', {
  target: ({ objects }) => namesOf(objects),
  parts: (action) => action.objects.map((object) => ({ ...action, objects: [object] })),
  *run({ objects }) {
    for (const object of objects) yield* restoreLabelsOf(object);
  },
});
