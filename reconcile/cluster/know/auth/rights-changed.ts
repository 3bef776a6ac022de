import { rootName } from '../../../../manifests/api/auth-settings.ts';
import type { RightsChange } from '../../../../manifests/api/check-report.ts';
import type { Right } from '../../../interfaces/etcd-auth.ts';
import type { AuthContent, KnownAuth, Observation } from '../observation.ts';
import { wordsOf } from './ranges.ts';

/** Told of one user, and of users and roles: what a person reads, and a report has room for. */
const most = { rights: 12, rows: 40 };

/**
 * Users and roles that may do more, or less, after a plan than before. While authentication is off each client with a
 * certificate may do everything, whatever its roles say: only what turns it on or off changes anything then.
 */
export function rightsChanged(before: Observation, after: Observation): readonly RightsChange[] {
  const [was, is] = [before.auth, after.auth].map((auth) => (auth?.kind === 'known' ? auth : undefined));
  if (!is) return [];
  // Of a cluster that sleeps status tells it.
  const wasEnabled = was?.enabled ?? before.cluster.status?.auth?.enabled ?? false;
  const rows = rowsFor(wasEnabled, was?.content ?? nothing, is);
  const more = rows.length - most.rows;
  return [...rows.slice(0, most.rows), ...(more > 0 ? [{ who: `and ${more} more` }] : [])];
}

const nothing: AuthContent = { users: {}, roles: {}, others: { users: [], roles: [] } };

function rowsFor(wasEnabled: boolean, had: AuthContent, { enabled, content }: KnownAuth): readonly RightsChange[] {
  if (wasEnabled && !enabled) return [{ who: 'each client with a certificate', gains: 'all keys' }];
  if (!enabled || !content) return [];
  if (!wasEnabled) return [nobodyKnown, ...limited(content)];
  return [...changed('role', had.roles, content.roles, rightsOfRole), ...usersChanged(had, content)];
}

const nobodyKnown: RightsChange = { who: 'each client whose certificate is of no user', loses: 'all keys' };

/** With authentication on, each user keeps what its roles say, and nothing else. */
function limited(content: AuthContent): readonly RightsChange[] {
  return Object.keys(content.users)
    .toSorted()
    .flatMap((name) => {
      const keeps = rightsOfUser(name, content);
      if (keeps.has(everything)) return [];
      const kept = listed([...keeps.values()]);
      return [{ who: `user ${name}`, loses: kept === '' ? 'all keys' : `all keys but what it keeps: ${kept}` }];
    });
}

function usersChanged(had: AuthContent, has: AuthContent): readonly RightsChange[] {
  const of = (content: AuthContent) => (name: string) => rightsOfUser(name, content);
  return differences('user', [had.users, has.users], of(had), of(has));
}

function changed(
  kind: 'role',
  had: AuthContent['roles'],
  has: AuthContent['roles'],
  rights: (name: string, roles: AuthContent['roles']) => Rights,
): readonly RightsChange[] {
  const rows = differences(
    kind,
    [had, has],
    (name) => rights(name, had),
    (name) => rights(name, has),
  );
  return rows.filter(({ gains, loses }) => gains !== undefined || loses !== undefined);
}

/** By what tells a range and an access from all others: words are for people, and two may be alike. */
type Rights = ReadonlyMap<string, string>;

function differences(
  kind: 'user' | 'role',
  [before, after]: readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>],
  hadBy: (name: string) => Rights,
  hasBy: (name: string) => Rights,
): readonly RightsChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].toSorted().flatMap((name) => {
    const [had, has] = [hadBy(name), hasBy(name)];
    const gains = listed([...has].flatMap(([key, words]) => (had.has(key) ? [] : [words])));
    const loses = listed([...had].flatMap(([key, words]) => (has.has(key) ? [] : [words])));
    const isNew = !Object.hasOwn(before, name);
    const isGone = !Object.hasOwn(after, name);
    if (!isNew && !isGone && gains === '' && loses === '') return [];
    const who = `${kind} ${name}${isNew ? ', which is new' : isGone ? ', which is deleted' : ''}`;
    return [{ who, ...(gains !== '' && { gains }), ...(loses !== '' && { loses }) }];
  });
}

function listed(rights: readonly string[]): string {
  const more = rights.length - most.rights;
  return [...rights.slice(0, most.rights), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const everything = 'everything';

function rightsOfUser(user: string, { users, roles }: AuthContent): Rights {
  const has = Object.hasOwn(users, user) ? (users[user] ?? []) : [];
  if (has.includes(rootName)) return new Map([[everything, 'everything, also users and members']]);
  return new Map(has.flatMap((role) => [...rightsOfRole(role, roles)]));
}

/** To read and to write apart: of a right to both, one may stay. */
function rightsOfRole(role: string, roles: AuthContent['roles']): Rights {
  const rights = Object.hasOwn(roles, role) && role !== rootName ? (roles[role] ?? []) : [];
  return new Map(rights.flatMap(wordsByKey));
}

function wordsByKey(right: Right): readonly (readonly [string, string])[] {
  const { key, rangeEnd, access } = right;
  const row = (what: 'read' | 'write') => [`${what} ${key} ${rangeEnd}`, `${what} ${wordsOf(right)}`] as const;
  return [...(access === 'Write' ? [] : [row('read')]), ...(access === 'Read' ? [] : [row('write')])];
}
