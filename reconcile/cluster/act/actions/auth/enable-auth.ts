import { moved } from '../../../know/outcome.ts';
import { askAuth, changeAuth, requireLogin } from '../../requests/auth.ts';
import { askMembers } from '../../requests/leadership.ts';
import { requireSameData } from '../../requests/space.ts';
import { defineAction } from '../define.ts';
import { requireAsSeen } from './keep-users.ts';

/**
 * From now on etcd asks clients for their user.
 *
 * Guards I19: just before, users are as they were seen, and the certificate by which we go on is that of a user with
 * the role root: else nothing could turn it off again. Afterwards each voter answers us by it, and all hold the same
 * data.
 */
export const enableAuth = defineAction('enable-auth', {
  target: () => undefined,
  *run(action) {
    const { clusterId, memberIds, user, secretName } = action;
    yield* requireLogin({ user, secretName });
    yield* requireAsSeen(action);
    yield* changeAuth({ clusterId, change: { op: 'enable' } });
    const { enabled } = yield* askAuth({ clusterId, memberIds });
    if (!enabled) throw moved("etcd's authentication was turned off again at once");
    const revision = lowest(yield* askMembers({}), memberIds);
    if (revision !== undefined) yield* requireSameData({ clusterId, revision, memberIds });
  },
});

/** A revision that all have reached by now. */
function lowest(
  answers: readonly { readonly memberId: string; readonly revision: string }[],
  memberIds: readonly string[],
): string | undefined {
  const revisions = answers.flatMap((one) => (memberIds.includes(one.memberId) ? [BigInt(one.revision)] : []));
  const [first, ...others] = revisions;
  if (first === undefined) return undefined;
  return String(others.reduce((least, one) => (one < least ? one : least), first));
}
