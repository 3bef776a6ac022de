import { addEntries } from '../../requests/space.ts';
import { defineAction } from '../define.ts';

/** The next step goes on where this one ends. */
export const advanceLog = defineAction('advance-log', {
  target: () => undefined,
  *run({ clusterId, index }) {
    yield* addEntries({ clusterId, index });
  },
});
