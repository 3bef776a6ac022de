import { votersOf } from '../../../know/membership/voters.ts';
import { listMembers } from '../../requests/membership.ts';
import { requireSameData } from '../../requests/space.ts';
import { defineAction } from '../define.ts';
import { disarmAll } from '../space/disarm-alarm.ts';

/**
 * Disarms CORRUPT, whichever member it blames, and looks whether it stays away. Read again just before: every voter of
 * the list holds the same at one revision. etcd itself does not look, and lets clients read and write again.
 */
export const disarmCorrupt = defineAction('disarm-corrupt', {
  target: () => undefined,
  *run({ clusterId, revision }) {
    const listed = yield* listMembers({ clusterId });
    yield* requireSameData({ clusterId, revision, memberIds: votersOf(listed).map(({ id }) => id) });
    yield* disarmAll(clusterId, 'CORRUPT');
  },
});
