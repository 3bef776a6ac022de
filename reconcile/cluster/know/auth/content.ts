import type { AuthContent, KnownAuth } from '../observed/auth.ts';

/** etcd's users and roles by their names, as plain data: a name may be any word, also one that objects have anyway. */

export const noContent: AuthContent = { users: {}, roles: {}, others: { users: [], roles: [] } };

/** Of an etcd in which no user was ever made. */
export const noUsers: KnownAuth = { kind: 'known', enabled: false, revision: '1', content: noContent };

export function has(all: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(all, name);
}

/** The roles of a user, or the rights of a role: none where there is no such one. */
export function of<T>(all: Readonly<Record<string, readonly T[]>>, name: string): readonly T[] {
  return has(all, name) ? (all[name] ?? []) : [];
}
