import type { ObjectKind } from '../../../reconcile/cluster/act/requests/read-at.ts';

/** What others write between a read and a write. */
export interface Doing<O extends string = ObjectKind> {
  readonly does: 'writes to' | 'deletes' | 'makes anew';
  readonly object: O;
  readonly name: string;
}
