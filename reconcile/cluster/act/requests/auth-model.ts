import { rootName } from '../../../../manifests/api/auth-settings.ts';
import type { AuthChange, Right } from '../../../interfaces/etcd-auth.ts';
import { refusedByEtcd } from '../../../requests/refusals.ts';
import { has, noContent, of } from '../../know/auth/content.ts';
import { isSameRange } from '../../know/auth/ranges.ts';
import type { AuthContent, KnownAuth } from '../../know/observed/auth.ts';

/**
 * etcd's users, roles and rights after one change, as etcd makes it or refuses it (measured on each minor:
 * `test/integration/requests/auth.ts`). What is there already, or is gone already, changes nothing.
 *
 * @throws {StepError}
 */
export function authAfter(auth: KnownAuth, change: AuthChange): KnownAuth {
  const content = auth.content ?? noContent;
  switch (change.op) {
    case 'enable':
      if (!auth.enabled && !content.users[rootName]?.includes(rootName))
        throw refusedByEtcd('RootNeeded', 'there is no user root with the role root');
      // The revision stays.
      return { ...auth, enabled: true };
    case 'disable':
      return auth.enabled ? moved({ ...auth, enabled: false }) : auth;
    default: {
      requireRootKept(auth, change);
      const after = contentAfter(content, change);
      const steps = change.op === 'grant-right' && isRevokedFirst(content, change) ? 2 : 1;
      return after === content ? auth : moved({ ...auth, content: after }, steps);
    }
  }
}

function moved(auth: KnownAuth, steps = 1): KnownAuth {
  return { ...auth, revision: String(BigInt(auth.revision) + BigInt(steps)) };
}

type ContentChange = Exclude<AuthChange, { op: 'enable' | 'disable' }>;

/** While authentication is on, etcd keeps root. */
function requireRootKept({ enabled }: KnownAuth, change: ContentChange): void {
  const takes =
    (change.op === 'delete-user' && change.user === rootName) ||
    (change.op === 'delete-role' && change.role === rootName) ||
    (change.op === 'revoke-role' && change.user === rootName && change.role === rootName);
  if (enabled && takes) throw refusedByEtcd('RootNeeded', 'root stays while authentication is on');
}

function contentAfter(content: AuthContent, change: ContentChange): AuthContent {
  const { users, roles } = content;
  switch (change.op) {
    case 'add-role':
      return has(roles, change.role) ? content : { ...content, roles: { ...roles, [change.role]: [] } };
    case 'delete-role':
      return has(roles, change.role) ? withoutRole(content, change.role) : content;
    case 'grant-right': {
      const before = rightsOf(content, change.role);
      const isThere = before.some((one) => isSameRange(one, change.right) && one.access === change.right.access);
      if (isThere) return content;
      const isReplaced = !isRevokedFirst(content, change) && before.some((one) => isSameRange(one, change.right));
      const after = isReplaced
        ? before.map((one) => (isSameRange(one, change.right) ? change.right : one))
        : inEtcdsOrder([...before.filter((one) => !isSameRange(one, change.right)), change.right]);
      return withRights(content, change.role, after);
    }
    case 'revoke-right': {
      const before = of(roles, change.role);
      const left = before.filter((one) => !isSameRange(one, change.range));
      return left.length === before.length ? content : withRights(content, change.role, left);
    }
    case 'add-user':
      return has(users, change.user) ? content : { ...content, users: { ...users, [change.user]: [] } };
    case 'delete-user': {
      if (!has(users, change.user)) return content;
      const { [change.user]: _, ...rest } = users;
      return { ...content, users: rest };
    }
    case 'grant-role': {
      const before = rolesOf(content, change.user);
      // etcd gives its own role also where it was never added.
      if (change.role !== rootName && !has(roles, change.role))
        throw refusedByEtcd('NoSuchRole', `there is no role ${change.role}`);
      if (before.includes(change.role)) return content;
      return { ...content, users: { ...users, [change.user]: [...before, change.role].toSorted() } };
    }
    case 'revoke-role': {
      const before = of(users, change.user);
      if (!before.includes(change.role)) return content;
      return { ...content, users: { ...users, [change.user]: before.filter((one) => one !== change.role) } };
    }
  }
}

/** etcd's client takes two steps where less is granted, and another right from the same key comes first. */
function isRevokedFirst(content: AuthContent, { role, right }: Extract<AuthChange, { op: 'grant-right' }>): boolean {
  const before = rightsOf(content, role);
  const first = before.find(({ key }) => key === right.key);
  const isOther = first !== undefined && !isSameRange(first, right);
  return right.access !== 'ReadWrite' && isOther && before.some((one) => isSameRange(one, right));
}

/** By key; of those from one key, the one that was granted first comes first. */
function inEtcdsOrder(rights: readonly Right[]): readonly Right[] {
  return rights.toSorted((a, b) => Buffer.compare(Buffer.from(a.key, 'base64'), Buffer.from(b.key, 'base64')));
}

/** Its users no longer have it. */
function withoutRole(content: AuthContent, role: string): AuthContent {
  const { [role]: _, ...roles } = content.roles;
  const users = Object.entries(content.users).map(([user, had]) => [user, had.filter((one) => one !== role)] as const);
  return { ...content, roles, users: Object.fromEntries(users) };
}

function withRights(content: AuthContent, role: string, rights: readonly Right[]): AuthContent {
  return { ...content, roles: { ...content.roles, [role]: rights } };
}

function rightsOf({ roles }: AuthContent, role: string): readonly Right[] {
  if (!has(roles, role)) throw refusedByEtcd('NoSuchRole', `there is no role ${role}`);
  return of(roles, role);
}

function rolesOf({ users }: AuthContent, user: string): readonly string[] {
  if (!has(users, user)) throw refusedByEtcd('NoSuchUser', `there is no user ${user}`);
  return of(users, user);
}
