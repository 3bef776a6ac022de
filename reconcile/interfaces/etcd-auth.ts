import type { EtcdCallOptions, EtcdChangeOptions } from './etcd.ts';

/** etcd's own users, roles and rights, as etcd has them. */

/** Of one member: all proposals before it are applied there, so that its answer is linearizable. */
export interface AuthStatus {
  readonly clusterId: string;
  readonly memberId: string;
  readonly enabled: boolean;
  /** In decimal. Goes up by each change of users, roles and rights, and by turning it off; not by turning it on. */
  readonly revision: string;
}

/** Base64: keys are any bytes. */
export interface KeyRange {
  /** Where it begins. */
  readonly key: string;
  /** The key after the last one. Empty: `key` alone. A zero byte: all from `key` on. */
  readonly rangeEnd: string;
}

export interface Right extends KeyRange {
  readonly access: 'Read' | 'Write' | 'ReadWrite';
}

/** One change, which etcd makes whole or not at all. */
export type AuthChange =
  | { readonly op: 'add-role' | 'delete-role'; readonly role: string }
  /**
   * Another access to the very same range takes the place of what the role had. Where another right of the role begins
   * at that key, these are two changes: etcd would keep both accesses, so the range is revoked first.
   */
  | { readonly op: 'grant-right'; readonly role: string; readonly right: Right }
  | { readonly op: 'revoke-right'; readonly role: string; readonly range: KeyRange }
  /** Without a password: only a certificate tells that it is this user. */
  | { readonly op: 'add-user' | 'delete-user'; readonly user: string }
  | { readonly op: 'grant-role' | 'revoke-role'; readonly user: string; readonly role: string }
  /** Takes a user `root` with the role `root`. */
  | { readonly op: 'enable' | 'disable' };

type OfCluster = EtcdCallOptions & Pick<EtcdChangeOptions, 'clusterId'>;

/**
 * With authentication on, all need the role `root`; etcd 3.7 tells any caller `authStatus`, and each minor tells a user
 * its own roles and their rights. All throw an {@link EtcdError}: refused with `PermissionDenied`, or with `UserNeeded`
 * where etcd does not know the caller.
 */
export interface EtcdAuth {
  /**
   * Asked of this endpoint and no other. A proposal itself: it needs a quorum.
   * @throws {EtcdError} refused: `NotSupportedByLearner`
   */
  authStatus(endpoint: string, options: EtcdCallOptions): Promise<AuthStatus>;
  /** Names, in etcd's order. @throws {EtcdError} refused: `ClusterIdMismatch` */
  users(endpoints: readonly string[], options: OfCluster): Promise<readonly string[]>;
  roles(endpoints: readonly string[], options: OfCluster): Promise<readonly string[]>;
  /** The roles of one; `undefined`: there is no such user. */
  rolesOf(endpoints: readonly string[], user: string, options: OfCluster): Promise<readonly string[] | undefined>;
  /**
   * The rights of one, each range once, with all that its role may do there; `undefined`: there is no such role. Those
   * of `root` are none on 3.5, and all keys, from an empty one, later.
   */
  rightsOf(endpoints: readonly string[], role: string, options: OfCluster): Promise<readonly Right[] | undefined>;
  /**
   * Makes one change. What is there already, or is gone already, is no error.
   *
   * @throws {EtcdError} refused: `NoSuchUser` or `NoSuchRole` where one is to be given something; `RootNeeded`
   *   (`enable` without a user `root` that has the role `root`, or a change that would take it away while it is on)
   */
  changeAuth(endpoints: readonly string[], change: AuthChange, options: EtcdChangeOptions): Promise<void>;
}
