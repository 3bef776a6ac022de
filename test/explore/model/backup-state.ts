import type { Occasion } from '../../../manifests/render/backup-before.ts';

/** An EtcdBackup, as far as what waits for it can tell. */
export interface AskedBackup {
  readonly name: string;
  readonly before: Occasion;
  readonly state: 'under-way' | 'good' | 'failed';
  /** Since it was asked for: just now · longer than a quorum may be missed · longer than two deadlines. */
  readonly age: 0 | 1 | 2;
  /** It ended so long ago that it is taken again. */
  readonly old?: true;
  /** What is in it. */
  readonly holds?: { readonly formation: string; readonly version: string };
  /** For an earlier life, or an earlier sleep: it counts for nothing any more. */
  readonly former?: true;
  /** Of a hibernation: a member has started since. */
  readonly outrun?: true;
}
