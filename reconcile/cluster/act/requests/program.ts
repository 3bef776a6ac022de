import { type Failure, StepError } from '../../know/outcome.ts';

/**
 * What an action does, as the requests that it sends: in order, but for what is sent side by side, and nothing else. No
 * clock, no randomness, no I/O. One program is run by three interpreters: against real parts (`live.ts`), for a plan
 * (`simulate/run.ts`), and by the search of `npm run explore`, which kills, delays and reorders at every request.
 */
export type Program<R = void> = Generator<Yielded, R, unknown>;

type Yielded = Request | SideBySide;

/** One question, or one write: plain data. What it does is said in `requests/<topic>.ts`, by its kind. */
export interface Request {
  readonly kind: string;
  readonly ask: unknown;
}

/** Programs whose requests may be answered in any order, and of which any may not be. */
interface SideBySide {
  readonly sideBySide: readonly Program<unknown>[];
}

type ResultOf<P> = P extends Program<infer R> ? R : never;

/** All of them, side by side. When one fails, the others still run to their ends. */
export function* together<T extends Readonly<Record<string, Program<unknown>>>>(
  parts: T,
): Program<{ readonly [K in keyof T]: ResultOf<T[K]> }> {
  const results = (yield { sideBySide: Object.values(parts) }) as readonly unknown[];
  return Object.fromEntries(Object.keys(parts).map((name, index) => [name, results[index]])) as {
    readonly [K in keyof T]: ResultOf<T[K]>;
  };
}

/** The same for each of these, side by side. */
export function* each<T, R>(things: readonly T[], program: (thing: T) => Program<R>): Program<readonly R[]> {
  return (yield { sideBySide: things.map(program) }) as readonly R[];
}

/**
 * To its end, each request as it is performed.
 *
 * @throws what `perform` throws; of requests side by side, what the first of them in the order of the program throws,
 * once all have ended.
 */
export async function run<R>(program: Program<R>, perform: (request: Request) => Promise<unknown>): Promise<R> {
  let step = program.next();
  while (!step.done) {
    const answer = 'sideBySide' in step.value ? allOf(step.value, perform) : perform(step.value);
    step = await answer.then(
      (answered) => program.next(answered),
      (error: unknown) => program.throw(error),
    );
  }
  return step.value;
}

async function allOf({ sideBySide }: SideBySide, perform: (request: Request) => Promise<unknown>) {
  const ended = await Promise.allSettled(sideBySide.map((program) => run(program, perform)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** What was answered to a request. */
export type Answered = { readonly answer: unknown } | { readonly refused: Failure };

/** Where a program stands. */
export type Position =
  /** `beside`: requests of the same number are sent side by side. */
  | { readonly kind: 'asks'; readonly request: Request; readonly beside?: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'ended'; readonly failure: Failure };

/** A program that was answered so far. */
export interface Standing {
  readonly position: Position;
  /** Goes on with the next answer. Once: a generator can't go back. */
  readonly after: (answered: Answered) => Standing;
}

/** Where a program stands before its first answer. */
export function begun(program: Program<unknown>): Standing {
  const running = inOrder(program, { groups: 0 });
  const standing = (go: () => IteratorResult<Located, unknown>): Standing => ({
    position: positionOf(go),
    after: (answered) =>
      standing(() =>
        'refused' in answered ? running.throw(new StepError(answered.refused)) : running.next(answered.answer),
      ),
  });
  return standing(() => running.next());
}

function positionOf(go: () => IteratorResult<Located, unknown>): Position {
  try {
    const step = go();
    return step.done ? { kind: 'done' } : { kind: 'asks', ...step.value };
  } catch (error) {
    if (error instanceof StepError) return { kind: 'ended', failure: error.failure };
    throw error;
  }
}

/** Where a program stands after these answers. Programs are short, so that replaying one costs little. */
export function standingAfter(program: Program<unknown>, answers: readonly Answered[]): Standing {
  return answers.reduce((standing, answered) => standing.after(answered), begun(program));
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
