import { each } from '../../../../requests/program.ts';
import { applySharedObject } from '../../requests/cluster.ts';
import { defineAction } from '../define.ts';

/** Makes each object what it should be, or removes it where none should be. */
export const applyShared = defineAction('apply-shared', {
  target: ({ objects }) => objects.join(', '),
  parts: (action) => action.objects.map((object) => ({ ...action, objects: [object] })),
  *run({ objects, minAvailable, leftOut }) {
    yield* each(objects, (object) => applySharedObject({ object, minAvailable, leftOut }));
  },
});
