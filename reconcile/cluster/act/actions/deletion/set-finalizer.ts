import { setClusterFinalizer } from '../../requests/cluster.ts';
import { defineAction } from '../define.ts';

/**
 * With the resourceVersion that the step was written with: nothing happened since. The report then finds a newer one,
 * and reads it.
 */
export const setFinalizer = defineAction('set-finalizer', {
  target: () => undefined,
  *run({ present, finalizer = 'volumes' }) {
    yield* setClusterFinalizer({ present, finalizer });
  },
});
