import type { AuthChange } from '../../../interfaces/etcd-auth.ts';

/** What etcd's authentication was seen as, by all of these voters, when its change was decided. */
export interface AuthSeen {
  readonly clusterId: string;
  readonly memberIds: readonly string[];
  /** In decimal. */
  readonly revision: string;
}

export type AuthAction =
  /** Users, roles and rights of etcd are made, changed and deleted, in this order. */
  | ({ readonly kind: 'keep-users'; readonly changes: readonly AuthChange[] } & AuthSeen)
  /** etcd begins to ask clients for their user; `secretName` has the certificate by which we go on as `user`. */
  | ({ readonly kind: 'enable-auth'; readonly user: string; readonly secretName: string } & AuthSeen)
  /** It no longer asks; users and roles stay. */
  | ({ readonly kind: 'disable-auth' } & AuthSeen);
