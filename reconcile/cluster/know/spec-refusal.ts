import type { Reason } from '../../reasons.ts';

/** A wish of the spec that cannot be fulfilled; the rest of the spec is applied all the same. */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
  readonly cure: string;
  readonly field: string;
}
