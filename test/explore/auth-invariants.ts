import { type AuthSpec, rootName } from '../../manifests/api/auth-settings.ts';
import type { AuthContent, KnownAuth } from '../../reconcile/cluster/know/observation.ts';
import { formationOf, serving } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import type { State, World } from './model/state.ts';
import { ownUser, theirs } from './model/user-hands.ts';

/**
 * I19: etcd does not ask clients for their user before our own user may do everything, and each listed user has its
 * rights. Root, our own user, and what others made, only ever get something; and a listed user never lacks a right
 * that it had and is to keep.
 *
 * What others do, and what arrives late, may take any of these: the next step gives it back.
 */
export function keepsUsers({ world: before, acting }: State, event: Event, { world: after }: State) {
  if (!event.write) return undefined;
  for (const { id, auth } of after.formations) {
    const was = formationOf(before, id)?.auth;
    if (!auth?.content || auth === was) continue;
    const { content } = auth;
    const own = [...new Set([rootName, ownUser(after)])];
    const lacking = own.find((user) => !content.users[user]?.includes(rootName));
    if (lacking !== undefined && (auth.enabled || was?.content?.users[lacking]?.includes(rootName)))
      return `${lacking} has not the role ${rootName}${auth.enabled ? ', and authentication is on' : ' any more'}`;
    const robbed = was?.content && robbedOf(was.content, content);
    if (robbed) return robbed;
    if (event.who === 'late') continue;
    const wronged = wrongedUser(was, auth, acting?.auth);
    if (wronged) return wronged;
  }
  return undefined;
}

function robbedOf(was: AuthContent, is: AuthContent): string | undefined {
  const { user, role } = theirs;
  if (was.roles[role] && !is.roles[role]) return `role ${role} of others is deleted`;
  if (!was.users[user]) return undefined;
  if (!is.users[user]) return `user ${user} of others is deleted`;
  const gone = was.users[user].find((one) => !is.users[user]?.includes(one));
  return gone && `user ${user} of others loses the role ${gone}`;
}

/** By a step that knew this spec. */
function wrongedUser(was: KnownAuth | undefined, { enabled, content }: KnownAuth, spec?: AuthSpec): string | undefined {
  if (!spec || !content) return undefined;
  const begins = enabled && was?.enabled !== true;
  for (const { name } of spec.users ?? []) {
    for (const [key, access] of probes) {
      if (!isAsked(spec, name, key, access) || isGiven(content, name, key, access)) continue;
      if (begins) return `authentication is turned on, and user ${name} may not ${access} ${key}`;
      if (was?.content && isGiven(was.content, name, key, access))
        return `user ${name} may not ${access} ${key} any more, which it is to keep`;
    }
  }
  return undefined;
}

/** At rest, etcd's users are as the spec says; others are those of other hands alone. */
export function usersUnlike(world: World): string | undefined {
  const { auth: spec } = world.cluster.spec;
  if (!spec) return undefined;
  const { enabled = false, content } = serving(world)?.auth ?? {};
  if (enabled !== (spec.mode === 'Enabled')) return `it is done, and authentication is ${enabled ? 'on' : 'off'}`;
  const { users = {}, roles = {} } = content ?? {};
  const own = [...new Set([rootName, ownUser(world)])];
  const listed = spec.users ?? [];
  const bare = own.find((user) => !users[user]?.includes(rootName));
  if (bare !== undefined) return `it is done, and ${bare} has not the role ${rootName}`;
  const other = listed.find(({ name, roles: asked = [] }) => !isSameSet(users[name], asked));
  if (other) return `it is done, and user ${other.name} has roles ${users[other.name]?.join(', ')}`;
  const unlike = (spec.roles ?? []).find(
    ({ name, rights = [] }) =>
      roles[name]?.length !== rights.length ||
      probes.some(([key, access]) => isIn(roles[name] ?? [], key, access) !== asksFor(rights, key, access)),
  );
  if (unlike) return `it is done, and role ${unlike.name} has other rights`;
  const known = [...own, ...listed.map(({ name }) => name), rootName, ...(spec.roles ?? []).map(({ name }) => name)];
  const excused = [...known, theirs.user, theirs.role, ...(world.strays ?? [])];
  const left = [...Object.keys(users), ...Object.keys(roles)].find((name) => !excused.includes(name));
  return left && `it is done, and ${left} is left, which etcd-ratchet made and the spec does not list`;
}

function isSameSet(some: readonly string[] = [], others: readonly string[]): boolean {
  return some.length === others.length && others.every((one) => some.includes(one));
}

type Access = 'Read' | 'Write';
type Rights = readonly { readonly key: string; readonly rangeEnd: string; readonly access: string }[];
type Asked = NonNullable<NonNullable<AuthSpec['roles']>[number]['rights']>;

/** Keys of the specs of scenarios, by which rights are told apart: in the middle of a range, and on its edges. */
const probes = ['/orders/', '/orders/1', '/orders0', '/bills', '/bills/1', 'a'].flatMap((key) =>
  (['Read', 'Write'] as const).map((access) => [key, access] as const),
);

function isGiven({ users, roles }: AuthContent, user: string, key: string, access: Access): boolean {
  const has = users[user] ?? [];
  return has.includes(rootName) || has.some((role) => isIn(roles[role] ?? [], key, access));
}

/** As etcd reads it: an empty end is one key, a zero byte all that follow. */
function isIn(rights: Rights, key: string, access: Access): boolean {
  return rights.some((right) => {
    const [begin, end] = [right.key, right.rangeEnd].map((one) => Buffer.from(one, 'base64').toString('latin1'));
    const isWithin = end === '' ? key === begin : key >= (begin ?? '') && (end === '\0' || key < (end ?? ''));
    return isWithin && (right.access === access || right.access === 'ReadWrite');
  });
}

function isAsked({ users = [], roles = [] }: AuthSpec, user: string, key: string, access: Access): boolean {
  const has = users.find(({ name }) => name === user)?.roles ?? [];
  return (
    has.includes(rootName) || roles.some(({ name, rights = [] }) => has.includes(name) && asksFor(rights, key, access))
  );
}

function asksFor(rights: Asked, key: string, access: Access): boolean {
  return rights.some(
    (right) =>
      (right.access === access || right.access === 'ReadWrite') &&
      ((right.prefix !== undefined && key.startsWith(right.prefix)) ||
        right.key === key ||
        (right.range !== undefined && key >= right.range.from && key < right.range.to)),
  );
}
