import type { AuthChange } from '../../../interfaces/etcd-auth.ts';
import { wordsOf } from './ranges.ts';

/** Changes of users, roles and rights in words: nothing in them is secret. */

const access = { Read: 'read', Write: 'write', ReadWrite: 'read and write' } as const;

export function wordsOfChange(change: AuthChange): string {
  switch (change.op) {
    case 'add-role':
      return `adds role ${change.role}`;
    case 'delete-role':
      return `deletes role ${change.role}`;
    case 'grant-right':
      return `lets role ${change.role} ${access[change.right.access]} ${wordsOf(change.right)}`;
    case 'revoke-right':
      return `takes ${wordsOf(change.range)} from role ${change.role}`;
    case 'add-user':
      return `adds user ${change.user}`;
    case 'delete-user':
      return `deletes user ${change.user}`;
    case 'grant-role':
      return `gives user ${change.user} the role ${change.role}`;
    case 'revoke-role':
      return `takes the role ${change.role} from user ${change.user}`;
    case 'enable':
      return "turns etcd's authentication on";
    case 'disable':
      return "turns etcd's authentication off";
  }
}

/** Names of users and roles that changes are about, each once. */
export function namesIn(changes: readonly AuthChange[]): readonly string[] {
  const names = changes.flatMap((change) => {
    if ('user' in change) return [change.user];
    return 'role' in change ? [change.role] : [];
  });
  return [...new Set(names)];
}
