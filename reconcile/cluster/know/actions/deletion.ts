import type { HibernationBackup } from '../../../../manifests/render/volume-record.ts';
import type { Finalizer } from '../marks.ts';
import type { Ref } from '../ref.ts';

export type DeletionAction =
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
      readonly after?: HibernationBackup;
    }
  /** Members that hibernate may start again. */
  | { readonly kind: 'wake-members'; readonly volumes: readonly Ref[] };
