import { rootName } from '../../../../manifests/api/auth-settings.ts';
import type { AuthChange, Right } from '../../../interfaces/etcd-auth.ts';
import type { AuthContent } from '../observed/auth.ts';
import { has, of } from './content.ts';
import { isSameRange } from './ranges.ts';
import type { WantedAuth } from './wanted.ts';

/** Names of users and roles that etcd-ratchet made, as status says it. */
export interface Made {
  readonly users: readonly string[];
  readonly roles: readonly string[];
}

/**
 * What makes users, roles and rights as they are to be, in the order in which it is done: what is given comes before
 * what is taken, so that a client that keeps a right has it all the time; and root comes first, because etcd can't do
 * without it. What others made and the spec does not list is left alone.
 *
 * Guards I19: root, our own user and their role are only ever given something.
 */
export function changesTo(wanted: WantedAuth, seen: AuthContent, made: Made): readonly AuthChange[] {
  const users = [...new Set([rootName, wanted.own, ...wanted.users.keys()])];
  const roles = [...new Set([rootName, ...wanted.roles.keys()])];
  return [
    ...given(users, roles, wanted, seen),
    ...users.flatMap((user) => (isKept(user, wanted) ? [] : rolesTaken(user, wanted, seen))),
    ...made.users.flatMap((user) => (isGone(user, wanted.users, seen.users) ? [deleteUser(user)] : [])),
    ...roles.flatMap((role) => (role === rootName ? [] : rightsTaken(role, wanted, seen))),
    ...made.roles.flatMap((role) => (isGone(role, wanted.roles, seen.roles) ? [deleteRole(role)] : [])),
  ];
}

/** Whom nothing is taken from, whatever else it was given. */
function isKept(user: string, { own }: WantedAuth): boolean {
  return user === rootName || user === own;
}

function given(
  users: readonly string[],
  roles: readonly string[],
  wanted: WantedAuth,
  seen: AuthContent,
): readonly AuthChange[] {
  return [
    ...roles.flatMap((role): AuthChange[] => [
      ...(has(seen.roles, role) ? [] : [{ op: 'add-role' as const, role }]),
      ...rightsGiven(role, wanted, seen).map((right) => ({ op: 'grant-right' as const, role, right })),
    ]),
    ...users.flatMap((user): AuthChange[] => [
      ...(has(seen.users, user) ? [] : [{ op: 'add-user' as const, user }]),
      ...rolesGiven(user, wanted, seen).map((role) => ({ op: 'grant-role' as const, user, role })),
    ]),
  ];
}

/**
 * Another access to the same range takes the place of the one before: what a role has and is to have there it gets
 * first, and loses the rest when all is given.
 */
function rightsGiven(role: string, wanted: WantedAuth, seen: AuthContent): readonly Right[] {
  return (wanted.roles.get(role) ?? []).flatMap((right): Right[] => {
    const had = of(seen.roles, role).find((one) => isSameRange(one, right));
    if (!had) return [right];
    return had.access === right.access || had.access === 'ReadWrite' ? [] : [{ ...right, access: 'ReadWrite' }];
  });
}

function rightsTaken(role: string, wanted: WantedAuth, seen: AuthContent): readonly AuthChange[] {
  const kept = wanted.roles.get(role) ?? [];
  return of(seen.roles, role).flatMap(({ key, rangeEnd, access }): AuthChange[] => {
    const right = kept.find((one) => isSameRange(one, { key, rangeEnd }));
    if (!right) return [{ op: 'revoke-right', role, range: { key, rangeEnd } }];
    return right.access === access || right.access === 'ReadWrite' ? [] : [{ op: 'grant-right', role, right }];
  });
}

function rolesGiven(user: string, wanted: WantedAuth, seen: AuthContent): readonly string[] {
  return (wanted.users.get(user) ?? []).filter((role) => !of(seen.users, user).includes(role));
}

function rolesTaken(user: string, wanted: WantedAuth, seen: AuthContent): readonly AuthChange[] {
  const kept = wanted.users.get(user) ?? [];
  return of(seen.users, user)
    .filter((role) => !kept.includes(role))
    .map((role) => ({ op: 'revoke-role', user, role }));
}

function isGone(
  name: string,
  wanted: ReadonlyMap<string, unknown>,
  seen: Readonly<Record<string, readonly unknown[]>>,
): boolean {
  return name !== rootName && !wanted.has(name) && has(seen, name);
}

function deleteUser(user: string): AuthChange {
  return { op: 'delete-user', user };
}

function deleteRole(role: string): AuthChange {
  return { op: 'delete-role', role };
}
