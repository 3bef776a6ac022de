import type { SnapshotSource } from '../../../../manifests/api/backup-settings.ts';
import type { BackupWish, Occasion } from '../../../../manifests/render/backup-before.ts';
import type { ResolvedBackup } from '../../../../manifests/render/volume-record.ts';

export type NamedBackup = { readonly name: string } & (
  | { readonly kind: 'fit'; readonly backup: ResolvedBackup; readonly etcdVersion?: string; readonly bytes?: number }
  /** In words: `it is not Ready`. */
  | { readonly kind: 'unfit'; readonly why: string }
);

/** A PersistentVolumeClaim on which a snapshot is named, and that is for a member's data. */
export interface SnapshotClaim {
  readonly name: string;
  /** In words. */
  readonly problem: string;
}

/** What a snapshot is named with, and its owner does not offer. */
export interface SnapshotOffer {
  /** Of the whole wish. */
  readonly id: string;
  /** In words. */
  readonly problem: string;
}

/** A backup that is Ready, as its EtcdBackup says. */
export interface BackupView {
  readonly name: string;
  readonly takenAt: string;
  /** It was restored and compared. */
  readonly verified: boolean;
  /** What an EtcdCluster would be born from. */
  readonly snapshot: SnapshotSource;
  readonly revision?: number;
  /** Of an etcd cluster that was given up for this one. */
  readonly formerLife?: {
    readonly clusterId: string;
    /** It is what this one went back to. */
    readonly isOrigin: boolean;
  };
}

export type AwaitedBackupView = { readonly before: Occasion } & (
  | { readonly kind: 'unknown'; readonly cause: string }
  | { readonly kind: 'missing'; readonly name: string; readonly wish: BackupWish }
  /** Its namespace is being deleted: the API server makes nothing there any more. */
  | { readonly kind: 'namespace-ends' }
  /**
   * `foreign`: another wish or person made it. `stalled`: it asks for a person, and may go on. `message`: its own Ready
   * condition's.
   */
  | {
      readonly kind: 'known';
      readonly name: string;
      readonly state: 'under-way' | 'stalled' | 'good' | 'failed' | 'foreign' | 'leaving';
      readonly message: string;
      readonly askedAt: Date;
      /** Of one that is over. */
      readonly ended?: { readonly uid: string; readonly at: string; readonly revision?: number };
      /** It was taken too long ago: what is taken in its place. */
      readonly tooOld?: { readonly name: string; readonly wish: BackupWish };
    }
);
