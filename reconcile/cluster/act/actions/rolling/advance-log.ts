import { addEntries } from '../../requests/space.ts';
import { defineAction } from '../define.ts';

/** What is not reached in this step the next one goes on with. */
export const advanceLog = defineAction('advance-log', {
  target: () => undefined,
  *run({ clusterId, index }) {
    yield* addEntries({ clusterId, index });
  },
});
