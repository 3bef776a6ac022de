import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import { printable } from '../../../manifests/printable.ts';
import { withCure } from '../../reasons/cure.ts';
import { changesTo } from '../know/auth/changes.ts';
import { madeAfter, madeIn } from '../know/auth/made.ts';
import { hashOfWanted, type WantedAuth } from '../know/auth/wanted.ts';
import type { AuthContent } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';
import { someOf } from '../know/some-of.ts';
import { keptStatement, type Statement } from '../know/statement.ts';

/** What status remembers of etcd's users; `undefined`: nothing was ever asked of them, or is known. */
export function authStatus({ cluster, auth, effective }: Situation): EtcdClusterStatus['auth'] {
  const wanted = effective.auth;
  const before = cluster.status?.auth;
  // The next look that asks reads all of it, whatever it remembers.
  if (cluster.spec.auth === undefined) return before && withoutMark(before);
  if (!wanted || !auth) return before;
  if (auth.kind === 'unknown' || auth.unread !== undefined) return before && withoutMark(before);
  const { enabled, revision, content } = auth;
  const { users, roles } = madeAfter(madeIn(cluster), wanted, content);
  const isAsAsked = content
    ? areRight(content, wanted, cluster) && enabled === wanted.enabled
    : before?.revision === revision;
  return {
    // What another hand turned off is still to be on: it waits for nothing then.
    enabled: isAsAsked ? enabled : (before?.enabled ?? false),
    users: [...users],
    roles: [...roles],
    ...(isAsAsked && { revision, asked: hashOfWanted(wanted) }),
  };
}

function withoutMark({ revision: _, asked: __, ...rest }: NonNullable<EtcdClusterStatus['auth']>) {
  return rest;
}

/** Whether users, roles and rights are as the spec says; those of others left aside. */
function areRight(content: AuthContent, wanted: WantedAuth, cluster: EtcdCluster): boolean {
  return changesTo(wanted, content, madeIn(cluster)).length === 0;
}

/** Whether etcd asks clients for their user, and users are as the spec says. */
export function authStatement(situation: Situation): readonly Statement[] {
  const { cluster, auth, effective } = situation;
  if (cluster.spec.auth === undefined) return [];
  const type = 'AuthReady';
  const refusal = effective.refusals.find(({ reason }) => reason === 'AuthRefused');
  if (refusal)
    return [{ type, status: 'False', reason: 'AuthRefused', message: withCure(refusal.message, refusal.cure) }];
  const wanted = effective.auth;
  if (!auth || !wanted) return keptStatement(type, cluster.status?.conditions);
  const unread = auth.kind === 'unknown' ? auth.cause : auth.unread;
  if (auth.kind === 'unknown' || unread !== undefined)
    return [{ type, status: 'Unknown', reason: 'AuthUnread', message: unread ?? '' }];
  const isRight = !auth.content || areRight(auth.content, wanted, cluster);
  if (!isRight || (auth.content && auth.enabled && !wanted.enabled))
    return [{ type, status: 'False', reason: 'KeepingUsers', message: "etcd's users are not as spec.auth says yet" }];
  if (!wanted.enabled) {
    const message = 'etcd asks no client for its user: spec.auth.mode is Disabled';
    return [{ type, status: 'False', reason: 'AuthDisabled', message }];
  }
  if (!auth.content) return keptStatement(type, cluster.status?.conditions);
  if (!auth.enabled) {
    const message = 'etcd asks no client for its user yet: every client with a certificate can read and write all keys';
    return [{ type, status: 'False', reason: 'AuthDisabled', message }];
  }
  const others = [
    ...auth.content.others.users.map((user) => `user ${printable(user)}`),
    ...auth.content.others.roles.map((role) => `role ${printable(role)}`),
  ];
  if (others.length > 0) {
    const message = withCure(
      `etcd has what spec.auth does not list, and others made: ${someOf(others)}`,
      'list them in spec.auth, or delete them with etcdctl user delete, or role delete',
    );
    return [{ type, status: 'False', reason: 'UnlistedUsers', message }];
  }
  return [
    {
      type,
      status: 'True',
      reason: 'UsersAsAsked',
      message: `etcd knows ${wanted.users.size} users, as spec.auth says`,
    },
  ];
}
