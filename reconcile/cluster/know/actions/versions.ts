import type { BackupWish } from '../../../../manifests/render/backup-before.ts';

export type VersionsAction =
  /** An EtcdBackup is made, which an upgrade, a hibernation or the deletion waits for. */
  { readonly kind: 'back-up'; readonly name: string; readonly wish: BackupWish };
