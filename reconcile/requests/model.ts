import { type Failure, StepError } from '../cluster/know/outcome.ts';
import { behaviourIn, type HostOf, type Requests, type Subject } from './define.ts';
import type { Request } from './program.ts';

/** What came of one request on plain state. */
export type Performed<S> =
  | { readonly kind: 'answered'; readonly state: S; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** Something must happen first. */
  | { readonly kind: 'wait' };

/** What only reads leaves the state as it is. */
export function perform<A extends Subject, S>(
  { kind, ask }: Request,
  requests: Requests<A>,
  state: S,
  host: HostOf<A, S>,
): Performed<S> {
  const { model, writes } = behaviourIn(requests, kind);
  try {
    const done = model(state, ask, host);
    if (done === 'wait') return { kind: 'wait' };
    return { kind: 'answered', state: writes ? done.state : state, answer: done.answer };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return { kind: 'refused', failure: error.failure };
  }
}
