import type { Program, Request, SideBySide } from './program.ts';
import { type Failure, StepError } from './refusals.ts';

export type Answered = { readonly answer: unknown } | { readonly refused: Failure };

export type Position<R = unknown> =
  /** `beside`: requests of the same number are sent side by side. */
  | { readonly kind: 'asks'; readonly request: Request; readonly beside?: number }
  | { readonly kind: 'done'; readonly result: R }
  | { readonly kind: 'ended'; readonly failure: Failure };

export interface Standing<R = unknown> {
  readonly position: Position<R>;
  /** Goes on with the next answer. Once: a generator can't go back. */
  readonly after: (answered: Answered) => Standing<R>;
}

/** Where a program stands before its first answer. */
export function begun<R>(program: Program<R>): Standing<R> {
  const running = inOrder(program, { groups: 0 });
  const standing = (go: () => IteratorResult<Located, R>): Standing<R> => ({
    position: positionOf(go),
    after: (answered) =>
      standing(() =>
        'refused' in answered ? running.throw(new StepError(answered.refused)) : running.next(answered.answer),
      ),
  });
  return standing(() => running.next());
}

function positionOf<R>(go: () => IteratorResult<Located, R>): Position<R> {
  try {
    const step = go();
    return step.done ? { kind: 'done', result: step.value } : { kind: 'asks', ...step.value };
  } catch (error) {
    if (error instanceof StepError) return { kind: 'ended', failure: error.failure };
    throw error;
  }
}

/** Where a program stands after these answers. Programs are short, so that replaying one costs little. */
export function standingAfter<R>(program: Program<R>, answers: readonly Answered[]): Standing<R> {
  return answers.reduce<Standing<R>>((standing, answered) => standing.after(answered), begun(program));
}

interface Located {
  readonly request: Request;
  readonly beside?: number;
}

/** One request after the other, also of those that are sent side by side. */
function* inOrder<R>(
  program: Program<R>,
  numbering: { groups: number },
  beside?: number,
): Generator<Located, R, unknown> {
  let step = program.next();
  while (!step.done) {
    let answer: unknown;
    try {
      answer =
        'sideBySide' in step.value
          ? yield* allInOrder(step.value, numbering, beside)
          : yield { request: step.value, ...(beside !== undefined && { beside }) };
    } catch (error) {
      step = program.throw(error);
      continue;
    }
    step = program.next(answer);
  }
  return step.value;
}

function* allInOrder(
  { sideBySide }: SideBySide,
  numbering: { groups: number },
  outer: number | undefined,
): Generator<Located, readonly unknown[], unknown> {
  numbering.groups += 1;
  const beside = outer ?? numbering.groups;
  const results: unknown[] = [];
  let failed: StepError | undefined;
  for (const program of sideBySide) {
    try {
      results.push(yield* inOrder(program, numbering, beside));
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      failed ??= error;
    }
  }
  if (failed) throw failed;
  return results;
}
