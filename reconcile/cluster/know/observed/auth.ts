import type { Right } from '../../../interfaces/etcd-auth.ts';

/** etcd's users, roles and rights, as far as they were asked for. */
export type AuthView =
  | { readonly kind: 'unknown'; readonly cause: string }
  | {
      readonly kind: 'known';
      readonly enabled: boolean;
      /** In decimal; it goes up by each change, also by another hand. */
      readonly revision: string;
      /** Absent: nothing has changed since status said that all is as asked. */
      readonly content?: AuthContent;
      /** Why users and roles can't be read. */
      readonly unread?: string;
    };

export type KnownAuth = Extract<AuthView, { kind: 'known' }>;

export interface AuthContent {
  /** The roles of each user, but for those in `others`. */
  readonly users: Readonly<Record<string, readonly string[]>>;
  /** The rights of each role, but for those in `others`. */
  readonly roles: Readonly<Record<string, readonly Right[]>>;
  /** Names that neither the spec has nor etcd-ratchet made. */
  readonly others: { readonly users: readonly string[]; readonly roles: readonly string[] };
}
