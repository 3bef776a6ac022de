import { moved } from '../../../know/outcome.ts';
import { compactTo, listAlarms } from '../../requests/space.ts';
import { defineAction } from '../define.ts';

/** Forgets what keys were before a revision, if etcd is still out of space. */
export const compact = defineAction('compact', {
  target: () => undefined,
  *run({ clusterId, revision }) {
    const alarms = yield* listAlarms({ clusterId });
    if (!alarms.some(({ alarm }) => alarm === 'NOSPACE')) throw moved('etcd is no longer out of space');
    yield* compactTo({ clusterId, revision });
  },
});
