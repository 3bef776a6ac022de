import { behaviourIn, type HostOf, type Requests, type Subject } from './define.ts';
import type { Program, Request } from './program.ts';
import { type Failure, StepError } from './refusals.ts';
import { begun } from './standing.ts';

export type Played<S, R> = { readonly state: S } & (
  | { readonly kind: 'done'; readonly result: R }
  /** Then the rule that decided on it, and the program, see the same world differently. */
  | { readonly kind: 'ended'; readonly failure: Failure }
  /** For what does not come by itself. */
  | { readonly kind: 'waits' }
);

interface World<S> {
  /** What happens by itself while a request waits; the same state: nothing does. */
  readonly settle?: (state: S) => S;
  /** Sees each request that was answered, and the state that it left. */
  readonly onAnswered?: (request: Request, state: S) => void;
}

/** A program to its end, on plain state, where nothing disturbs it. */
export function play<A extends Subject, S, R>(
  program: Program<R>,
  requests: Requests<A>,
  start: S,
  host: HostOf<A, S>,
  { settle = (state) => state, onAnswered }: World<S> = {},
): Played<S, R> {
  let standing = begun(program);
  let state = start;
  for (;;) {
    const { position } = standing;
    if (position.kind === 'done') return { kind: 'done', state, result: position.result };
    if (position.kind === 'ended') return { kind: 'ended', state, failure: position.failure };
    const { request } = position;
    const performed = perform(request, requests, state, host);
    switch (performed.kind) {
      case 'wait': {
        const settled = settle(state);
        if (settled === state) return { kind: 'waits', state };
        state = settled;
        break;
      }
      case 'refused':
        standing = standing.after({ refused: performed.failure });
        break;
      case 'answered':
        state = performed.state;
        onAnswered?.(request, state);
        standing = standing.after({ answer: performed.answer });
    }
  }
}

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
