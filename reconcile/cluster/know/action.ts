import type { BackupWish } from '../../../manifests/render/backup-before.ts';
import type { HibernationBackup } from '../../../manifests/render/volume-record.ts';
import type { AuthAction } from './actions/auth.ts';
import type { BirthAction } from './actions/birth.ts';
import type { CertificatesAction } from './actions/certificates.ts';
import type { MembershipAction } from './actions/membership.ts';
import type { RecoveryAction } from './actions/recovery.ts';
import type { RollingAction } from './actions/rolling.ts';
import type { VolumesAction } from './actions/volumes.ts';
import type { Finalizer } from './marks.ts';
import type { Successor } from './membership/successor.ts';
import type { Ref } from './ref.ts';

type SpaceAction =
  /** All history before this revision is compacted away. */
  | { readonly kind: 'compact'; readonly clusterId: string; readonly revision: string }
  /** A member rewrites its database without free pages. */
  | {
      readonly kind: 'defragment-member';
      readonly name: string;
      readonly memberId: string;
      readonly clusterId: string;
      /** Of its database before, in bytes. */
      readonly size: number;
      readonly at: string;
      /** Before this revision no history is left; absent where that is unknown. */
      readonly bareAt?: string;
      /** Takes leadership over first, if this member leads. */
      readonly successor?: Successor;
    }
  /** The alarm is disarmed, if every member's database is still below its limit. */
  | {
      readonly kind: 'disarm-alarm';
      readonly clusterId: string;
      readonly limits: readonly { readonly memberId: string; readonly bytes: number }[];
    };

type DeletionAction =
  /** Adds or removes a finalizer that deletion by policy needs. */
  | {
      readonly kind: 'set-finalizer';
      readonly present: boolean;
      /** Absent: `volumes`. */
      readonly finalizer?: Finalizer;
    }
  /** All members stop; their volumes are marked first, with the backup that was taken before. */
  | {
      readonly kind: 'hibernate-members';
      readonly volumes: readonly Ref[];
      readonly statefulSets: readonly Ref[];
      /** With the ConfigMaps without which no etcd starts any more that could write after it. */
      readonly after?: HibernationBackup & { readonly configMaps: readonly Ref[] };
    }
  /** Members that hibernate may start again. */
  | { readonly kind: 'wake-members'; readonly volumes: readonly Ref[] };

type VersionsAction =
  /** An EtcdBackup is made, which an upgrade, a hibernation or the deletion waits for. */
  { readonly kind: 'back-up'; readonly name: string; readonly wish: BackupWish };

/**
 * Everything a step can do to a cluster: plain data, by topic; what each does is a file under `act/actions/`.
 *
 * An action contains everything that it needs, because it is written into the lease before it is carried out: after a
 * crash, the next invocation finishes that very step, with the same token and the same member list.
 */
export type Action =
  | AuthAction
  | BirthAction
  | CertificatesAction
  | DeletionAction
  | MembershipAction
  | RecoveryAction
  | RollingAction
  | SpaceAction
  | VersionsAction
  | VolumesAction;

export type ActionKind = Action['kind'];
export type ActionOf<K extends ActionKind> = Extract<Action, { kind: K }>;
