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
  /** The data in it. */
  readonly holds?: { readonly formation: string; readonly version: string; readonly revision?: number };
  /** For an earlier life, or an earlier sleep: it counts for nothing any more. */
  readonly former?: true;
  /** Of a hibernation: a member has started since. */
  readonly outrun?: true;
  /** What it stored is gone, which nothing tells. */
  readonly lost?: true;
  /** It takes nothing: it looks for the object that another one stored. */
  readonly looksFor?: string;
}

/** An EtcdBackup that a person made, and that a spec may name. */
export interface MadeBackup {
  readonly name: string;
  /** Another one when it was made anew. */
  readonly uid: string;
  readonly object: 'gs://backups/orders/a.db' | 'gs://backups/orders/c.db';
  readonly ready: boolean;
}
