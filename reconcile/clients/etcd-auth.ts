import type { Etcd3, IPermission, IResponseHeader } from 'etcd3';
import { EtcdError, type Refusal } from '../interfaces/etcd.ts';
import type { EtcdChangeOptions } from '../interfaces/etcd-admin.ts';
import type { AuthChange, EtcdAuth, KeyRange, Right } from '../interfaces/etcd-auth.ts';
import type { CallOptions, Calls, Question } from './etcd-calls.ts';
import { anotherCluster, change } from './etcd-change.ts';
import { fromAny } from './etcd-reading.ts';
import { clusterIdOf, hex } from './etcd-values.ts';

export function authentication(calls: Calls): EtcdAuth {
  return {
    authStatus: (endpoint, { signal }) =>
      calls.ask('authentication status', endpoint, signal, async (client, options) => {
        const { header, enabled, authRevision } = await client.auth.authStatus(options);
        return { clusterId: clusterIdOf(header), memberId: hex(header.member_id), enabled, revision: authRevision };
      }),
    users: (endpoints, options) => names(calls, 'users', endpoints, options),
    roles: (endpoints, options) => names(calls, 'roles', endpoints, options),
    rolesOf: (endpoints, user, { signal, clusterId }) =>
      fromAny(`roles of user ${user}`, endpoints, signal, (endpoint, attempt) =>
        unlessMissing('users', user, { calls, endpoint, signal: attempt, clusterId }, async (client, options) => {
          const { header, roles } = await client.auth.userGet({ name: user }, options);
          return { header, value: roles };
        }),
      ),
    rightsOf: (endpoints, role, { signal, clusterId }) =>
      fromAny(`rights of role ${role}`, endpoints, signal, (endpoint, attempt) =>
        unlessMissing('roles', role, { calls, endpoint, signal: attempt, clusterId }, async (client, options) => {
          const { header, perm } = await client.auth.roleGet({ role }, options);
          return { header, value: rightsIn(perm) };
        }),
      ),
    changeAuth: async (endpoints, wanted, options) => {
      const call = wordsOf(wanted);
      if (wanted.op === 'grant-right') requireRange(call, wanted.right);
      try {
        await change(calls, { call, endpoints, options, run: runOf(wanted) });
      } catch (error) {
        const found = await explained(calls, endpoints, { wanted, options, error });
        if (!isDone(wanted, found)) throw found;
      }
    },
  };
}

type Kind = 'users' | 'roles';

const one = { users: 'user', roles: 'role' } as const satisfies Record<Kind, string>;

function names(
  calls: Calls,
  kind: Kind,
  endpoints: readonly string[],
  { signal, clusterId }: Pick<EtcdChangeOptions, 'signal' | 'clusterId'>,
): Promise<readonly string[]> {
  return fromAny(`${one[kind]} list`, endpoints, signal, (endpoint, attempt) =>
    namesAt(kind, { calls, endpoint, signal: attempt, clusterId }),
  );
}

interface Place {
  readonly calls: Calls;
  readonly endpoint: string;
  readonly signal: AbortSignal;
  readonly clusterId: string;
}

function namesAt(kind: Kind, place: Place): Promise<readonly string[]> {
  return answerAt(`${one[kind]} list`, place, async (client, options) => {
    if (kind === 'users') {
      const { header, users } = await client.auth.userList(options);
      return { header, value: users };
    }
    const { header, roles } = await client.auth.roleList(options);
    return { header, value: roles };
  });
}

interface Answer<T> {
  readonly header: IResponseHeader;
  readonly value: T;
}

function answerAt<T>(
  call: string,
  { calls, endpoint, signal, clusterId }: Place,
  ask: Question<Answer<T>>,
): Promise<T> {
  return calls.ask(call, endpoint, signal, async (client, options) => {
    const { header, value } = await ask(client, options);
    const actual = clusterIdOf(header);
    if (actual !== clusterId) throw anotherCluster(endpoint, actual, clusterId);
    return value;
  });
}

/**
 * A refusal names no cluster, and "user name not found" is also said to a caller that etcd does not know. The list of
 * names tells: only root gets it, with the cluster's ID.
 */
async function unlessMissing<T>(
  kind: Kind,
  name: string,
  place: Place,
  ask: Question<Answer<T>>,
): Promise<T | undefined> {
  try {
    return await answerAt(`${one[kind]} ${name}`, place, ask);
  } catch (error) {
    if (!isRefused(error, kind === 'users' ? 'UserNeeded' : 'NoSuchRole')) throw error;
    if ((await namesAt(kind, place)).includes(name)) throw error;
    return undefined;
  }
}

function wordsOf(change: AuthChange): string {
  switch (change.op) {
    case 'add-role':
    case 'delete-role':
      return `${change.op.replace('-', ' ')} ${change.role}`;
    case 'add-user':
    case 'delete-user':
      return `${change.op.replace('-', ' ')} ${change.user}`;
    case 'grant-right':
      return `grant a right to role ${change.role}`;
    case 'revoke-right':
      return `revoke a right of role ${change.role}`;
    case 'grant-role':
      return `grant role ${change.role} to user ${change.user}`;
    case 'revoke-role':
      return `revoke role ${change.role} of user ${change.user}`;
    case 'enable':
    case 'disable':
      return `${change.op} authentication`;
  }
}

function runOf(change: AuthChange): Question<unknown> {
  return ({ auth }, options) => {
    switch (change.op) {
      case 'add-role':
        return auth.roleAdd({ name: change.role }, options);
      case 'delete-role':
        return auth.roleDelete({ role: change.role }, options);
      case 'grant-right':
        return grantRight(auth, change, options);
      case 'revoke-right':
        return auth.roleRevokePermission({ role: change.role, ...bytesOf(change.range) }, options);
      case 'add-user':
        return auth.userAdd({ name: change.user, options: { no_password: true } }, options);
      case 'delete-user':
        return auth.userDelete({ name: change.user }, options);
      case 'grant-role':
        return auth.userGrantRole({ user: change.user, role: change.role }, options);
      case 'revoke-role':
        return auth.userRevokeRole({ name: change.user, role: change.role }, options);
      case 'enable':
        return auth.authEnable(options);
      case 'disable':
        return auth.authDisable(options);
    }
  };
}

/**
 * etcd compares a right with the first one of that key only, and adds it beside any other (RoleGrantPermission in
 * auth/store.go): the same range is then there twice, and the wider access holds. So where the role is to have less,
 * such a range is revoked first: for a moment it has none.
 */
async function grantRight(
  auth: Etcd3['auth'],
  { role, right }: Extract<AuthChange, { op: 'grant-right' }>,
  options: CallOptions,
): Promise<void> {
  const there = (await auth.roleGet({ role }, options)).perm;
  const { key, range_end } = bytesOf(right);
  const same = there.filter((perm) => perm.key.equals(key) && perm.range_end.equals(range_end));
  const [first] = same;
  // A repeated grant would move the revision.
  if (rightsIn(same)[0]?.access === right.access) return;
  const isReplaced = same.length <= 1 && there.find((perm) => perm.key.equals(key)) === first;
  const isLess = right.access !== 'ReadWrite';
  if (first && !isReplaced && isLess) await auth.roleRevokePermission({ role, key, range_end }, options);
  await auth.roleGrantPermission({ name: role, perm: { permType: theirs[right.access], key, range_end } }, options);
}

/** The refusal in its own meaning: of a missing user etcd says what it says of a caller that it does not know. */
async function explained(
  calls: Calls,
  endpoints: readonly string[],
  {
    wanted,
    options,
    error,
  }: { readonly wanted: AuthChange; readonly options: EtcdChangeOptions; readonly error: unknown },
): Promise<unknown> {
  if (!('user' in wanted) || !isRefused(error, 'UserNeeded')) return error;
  const users = await names(calls, 'users', endpoints, options).catch(() => undefined);
  if (!users || users.includes(wanted.user)) return error;
  return new EtcdError(error.message, 'refused', error, undefined, 'NoSuchUser');
}

/** What etcd refuses with, where it is already as wanted. */
const done: Readonly<Record<AuthChange['op'], readonly Refusal[]>> = {
  'add-role': ['RoleExists'],
  'delete-role': ['NoSuchRole'],
  'grant-right': [],
  'revoke-right': ['NoSuchRole', 'NotGranted'],
  'add-user': ['UserExists'],
  'delete-user': ['NoSuchUser'],
  'grant-role': [],
  'revoke-role': ['NoSuchUser', 'NotGranted'],
  enable: [],
  disable: [],
};

function isDone({ op }: AuthChange, error: unknown): boolean {
  return done[op].some((reason) => isRefused(error, reason));
}

function isRefused(error: unknown, reason: Refusal): error is EtcdError {
  return error instanceof EtcdError && error.outcome === 'refused' && error.reason === reason;
}

const theirs = { Read: 'Read', Write: 'Write', ReadWrite: 'Readwrite' } as const satisfies Record<
  Right['access'],
  IPermission['permType']
>;

/** Rights to one range are one, with all that they allow together. */
function rightsIn(permissions: readonly IPermission[]): readonly Right[] {
  const byRange = new Map<string, Right>();
  for (const permission of permissions) {
    const right = rightOf(permission);
    const range = `${right.key} ${right.rangeEnd}`;
    const before = byRange.get(range);
    const isWider = before !== undefined && before.access !== right.access;
    byRange.set(range, isWider ? { ...right, access: 'ReadWrite' } : right);
  }
  return [...byRange.values()];
}

function rightOf({ permType, key, range_end }: IPermission): Right {
  const access = (['Read', 'Write', 'ReadWrite'] as const).find((name) => theirs[name] === permType);
  if (access === undefined) throw new Error(`a right of kind ${permType} is not known here`);
  return { key: key.toString('base64'), rangeEnd: range_end.toString('base64'), access };
}

function bytesOf({ key, rangeEnd }: KeyRange): { readonly key: Buffer; readonly range_end: Buffer } {
  return { key: Buffer.from(key, 'base64'), range_end: Buffer.from(rangeEnd, 'base64') };
}

/** etcd says of a range what it says where root would go. @throws {EtcdError} */
function requireRange(call: string, range: KeyRange): void {
  const { key, range_end } = bytesOf(range);
  const isOpen = range_end.length === 0 || range_end.equals(Buffer.from([0]));
  if (key.length > 0 && (isOpen || Buffer.compare(key, range_end) < 0)) return;
  throw new EtcdError(`${call}: not sent: it begins with no key, or ends before it begins`, 'down');
}
