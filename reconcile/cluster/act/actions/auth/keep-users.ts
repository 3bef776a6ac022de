import type { Program } from '../../../../requests/program.ts';
import type { AuthSeen } from '../../../know/actions/auth.ts';
import { namesIn } from '../../../know/auth/told.ts';
import { moved } from '../../../know/outcome.ts';
import { askAuth, changeAuth } from '../../requests/auth.ts';
import { defineAction } from '../define.ts';

/**
 * Makes users, roles and rights as the spec asks, one change after the other.
 *
 * Guards I19: read again just before, all voters say what was seen when the changes were decided. One that a crash cut
 * short is decided anew, from what is there by then.
 */
export const keepUsers = defineAction('keep-users', {
  target: ({ changes }) => namesIn(changes).join(', '),
  *run(action) {
    yield* requireAsSeen(action);
    for (const change of action.changes) yield* changeAuth({ clusterId: action.clusterId, change });
  },
});

/** Nothing has changed since. @throws {StepError} otherwise. */
export function* requireAsSeen({ clusterId, memberIds, revision }: AuthSeen): Program {
  const now = yield* askAuth({ clusterId, memberIds });
  if (now.revision !== revision) throw moved(`etcd's users have changed: its revision of them is ${now.revision}`);
}
