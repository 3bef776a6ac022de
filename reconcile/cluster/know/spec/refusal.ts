import type { Approval } from '../../../../manifests/api/approval.ts';
import type { RefusalReason } from '../../../reasons/refusals.ts';

/** A wish of the spec that cannot be fulfilled; the rest of the spec is applied all the same. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  readonly cure: string;
  readonly field: string;
  /** What a person may approve, so that it is fulfilled. */
  readonly approval?: Approval;
}

/** A wish as far as it can be fulfilled, and why not all of it. */
export interface Judged<T> {
  readonly value: T;
  readonly refusal?: Refusal;
}
