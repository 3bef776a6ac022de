import { rootName } from '../../../../manifests/api/auth-settings.ts';
import type { RightsChange } from '../../../../manifests/api/check-report.ts';
import type { Right } from '../../../interfaces/etcd-auth.ts';
import type { AuthContent, KnownAuth, Observation } from '../observation.ts';
import { firstOf } from '../some-of.ts';
import { has, noContent, of } from './content.ts';
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
  const rows = rowsFor(wasEnabled, was?.content ?? noContent, is);
  return firstOf(rows, most.rows, (who) => ({ who }));
}

function rowsFor(wasEnabled: boolean, had: AuthContent, { enabled, content }: KnownAuth): readonly RightsChange[] {
  if (wasEnabled && !enabled) return [{ who: 'each client with a certificate', gains: 'all keys' }];
  if (!enabled || !content) return [];
  if (!wasEnabled) return [nobodyKnown, ...limited(content)];
  const roles = differences('role', had, content);
  // A role without rights tells nothing: its users do.
  const widened = roles.filter(({ gains, loses }) => gains !== undefined || loses !== undefined);
  return [...widened, ...differences('user', had, content)];
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

/** By what tells a range and an access from all others: words are for people, and two may be alike. */
type Rights = ReadonlyMap<string, string>;

/** Where each kind stands, and what one of it may do. */
const kinds = {
  user: { in: ({ users }: AuthContent) => users, rightsOf: rightsOfUser },
  role: { in: ({ roles }: AuthContent) => roles, rightsOf: rightsOfRole },
} as const;

function differences(kind: keyof typeof kinds, before: AuthContent, after: AuthContent): readonly RightsChange[] {
  const { in: namesOf, rightsOf } = kinds[kind];
  const names = new Set([before, after].flatMap((content) => Object.keys(namesOf(content))));
  return [...names].toSorted().flatMap((name) => {
    const [had, may] = [rightsOf(name, before), rightsOf(name, after)];
    const gains = listed([...may].flatMap(([key, words]) => (had.has(key) ? [] : [words])));
    const loses = listed([...had].flatMap(([key, words]) => (may.has(key) ? [] : [words])));
    const isNew = !has(namesOf(before), name);
    const isGone = !has(namesOf(after), name);
    if (!isNew && !isGone && gains === '' && loses === '') return [];
    const who = `${kind} ${name}${isNew ? ', which is new' : isGone ? ', which is deleted' : ''}`;
    return [{ who, ...(gains !== '' && { gains }), ...(loses !== '' && { loses }) }];
  });
}

function listed(rights: readonly string[]): string {
  return firstOf(rights, most.rights, (words) => words).join('; ');
}

const everything = 'everything';

function rightsOfUser(user: string, content: AuthContent): Rights {
  const roles = of(content.users, user);
  if (roles.includes(rootName)) return new Map([[everything, 'everything, also users and members']]);
  return new Map(roles.flatMap((role) => [...rightsOfRole(role, content)]));
}

/** To read and to write apart: of a right to both, one may stay. */
function rightsOfRole(role: string, { roles }: AuthContent): Rights {
  return new Map(role === rootName ? [] : of(roles, role).flatMap(wordsByKey));
}

function wordsByKey(right: Right): readonly (readonly [string, string])[] {
  const { key, rangeEnd, access } = right;
  const row = (what: 'read' | 'write') => [`${what} ${key} ${rangeEnd}`, `${what} ${wordsOf(right)}`] as const;
  return [...(access === 'Write' ? [] : [row('read')]), ...(access === 'Read' ? [] : [row('write')])];
}
