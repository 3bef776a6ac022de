import { rootName } from '../../../../manifests/api/auth-settings.ts';
import type { RightsChange } from '../../../../manifests/api/check-report.ts';
import type { Right } from '../../../interfaces/etcd-auth.ts';
import type { AuthContent, Observation } from '../observation.ts';
import { wordsOf } from './ranges.ts';

/** Told of one user, and users told: what a person reads, and a report has room for. */
const most = { rights: 12, users: 40 };

/** Users that may do more, or less, after a plan than before: by all that their roles let them do together. */
export function rightsChanged(before: Observation, after: Observation): readonly RightsChange[] {
  const [was, is] = [before.auth, after.auth].map((auth) => (auth?.kind === 'known' ? auth : undefined));
  if (!is?.content) return [];
  const changed = usersChanged(was?.content ?? nothing, is.content);
  const more = changed.length - most.users;
  return [
    ...toggled(was?.enabled ?? false, is.enabled),
    ...changed.slice(0, most.users),
    ...(more > 0 ? [{ who: `and ${more} more users` }] : []),
  ];
}

const nothing: AuthContent = { users: {}, roles: {}, others: { users: [], roles: [] } };

function toggled(was: boolean, is: boolean): readonly RightsChange[] {
  if (was === is) return [];
  return is
    ? [{ who: 'each client whose certificate is of no user', loses: 'all keys' }]
    : [{ who: 'each client with a certificate', gains: 'all keys' }];
}

function usersChanged(before: AuthContent, after: AuthContent): readonly RightsChange[] {
  const names = new Set([...Object.keys(before.users), ...Object.keys(after.users)]);
  return [...names].toSorted().flatMap((name) => {
    const [had, has] = [rightsIn(name, before), rightsIn(name, after)];
    const gains = listed([...has].filter((right) => !had.has(right)));
    const loses = listed([...had].filter((right) => !has.has(right)));
    const isNew = !Object.hasOwn(before.users, name);
    const isGone = !Object.hasOwn(after.users, name);
    if (!isNew && !isGone && gains === '' && loses === '') return [];
    const who = `user ${name}${isNew ? ', which is new' : isGone ? ', which is deleted' : ''}`;
    return [{ who, ...(gains !== '' && { gains }), ...(loses !== '' && { loses }) }];
  });
}

function listed(rights: readonly string[]): string {
  const more = rights.length - most.rights;
  return [...rights.slice(0, most.rights), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** In words, to read and to write apart: of a right to both, one may stay. */
function rightsIn(user: string, { users, roles }: AuthContent): ReadonlySet<string> {
  const has = Object.hasOwn(users, user) ? (users[user] ?? []) : [];
  if (has.includes(rootName)) return new Set(['everything, also users and members']);
  return new Set(has.flatMap((role) => (Object.hasOwn(roles, role) ? (roles[role] ?? []) : []).flatMap(wordsOfRight)));
}

function wordsOfRight(right: Right): readonly string[] {
  const keys = wordsOf(right);
  return [...(right.access === 'Write' ? [] : [`read ${keys}`]), ...(right.access === 'Read' ? [] : [`write ${keys}`])];
}
