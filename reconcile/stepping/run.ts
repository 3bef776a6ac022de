import { KubeError } from '../interfaces/kube.ts';
import { earliest } from '../time/later-look.ts';
import { type Again, isStepped, type Kind, type KindContext, type Kinds, type ResultsOf } from './kind.ts';
import { createLists, type Lister, type Lists } from './lists.ts';
import { type Looked, merged, nothing } from './looked.ts';
import { firstSteps, stepAndWait } from './loop.ts';
import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';

interface Turn {
  /** The results of the first step of each. */
  readonly first: Promise<readonly StepResult[]>;
  readonly last: Promise<Looked>;
}

interface Run {
  readonly kinds: Kinds;
  readonly context: KindContext;
  readonly turns: Map<string, Turn>;
}

export interface Stepped<Table extends Kinds> {
  readonly results: ResultsOf<Table>;
  readonly workRemains: boolean;
  /** Whether anything was done that was not told early, or an object that was waited for has gone. */
  readonly moved: boolean;
  /** Whether something was told early. */
  readonly isTold: boolean;
  /** When something is due that no follow-up waits for. */
  readonly nextLook?: Date;
  /** Whether something failed that may succeed when repeated, or another invocation was at it. */
  readonly unsettled: boolean;
}

/** One lister for each kind, and for `more`, for the whole pass. */
export function listsOf(
  kinds: Kinds,
  context: Parameters<Kind['lister']>[0],
  more: Readonly<Record<string, Lister>> = {},
): Lists {
  const ofKinds = Object.entries(kinds).map(([name, kind]) => [name, kind.lister(context)] as const);
  return createLists(new Map([...ofKinds, ...Object.entries(more)]));
}

/**
 * Steps every kind of the table, each as soon as those that it comes after have had their first steps.
 * @throws {KubeError} of a kind without which no pass was made
 */
export async function stepKinds<Table extends Kinds>(kinds: Table, context: KindContext): Promise<Stepped<Table>> {
  const run: Run = { kinds, context, turns: new Map() };
  for (const [name, kind] of Object.entries(kinds)) run.turns.set(name, begin(run, name, kind));
  const ended = await Promise.all(
    Object.entries(kinds).map(async ([name, kind]) => [name, await wholeTurn(run, name, kind)] as const),
  );
  const looked = new Map(ended);
  const now = context.kube.now() ?? new Date();
  const all = ended.flatMap(([, { results }]) => results);
  const nextLook = earliest(
    ...Object.entries(kinds).map(([name, kind]) => kind.next?.(looked.get(name)?.results ?? [], now)),
  );
  return {
    // Of a kind that was not looked at there is nothing, rather than an empty list.
    results: Object.fromEntries(
      ended.flatMap(([name, one]) => (one === nothing ? [] : [[name, one.results]])),
    ) as ResultsOf<Table>,
    workRemains: all.some(hasWork),
    moved: ended.some(([, { results, hasGone, told }]) => hasGone || results.some((one) => isNewOf(one, told))),
    isTold: ended.some(([, { told }]) => told.size > 0),
    ...(nextLook && { nextLook }),
    unsettled: Object.entries(kinds).some(([name, kind]) =>
      looked.get(name)?.results.some((result) => kind.isUnsettled?.(result)),
    ),
  };
}

function isNewOf(one: StepResult, told: ReadonlySet<string>): boolean {
  return hasActed(one) && !told.has(keyOf(one));
}

function begin(run: Run, name: string, kind: Kind): Turn {
  const first = Promise.withResolvers<readonly StepResult[]>();
  const last = oneTurn(run, name, kind, first.resolve);
  last.then(({ results }) => first.resolve(results), first.reject);
  // Those that come after it, and the caller, are told.
  first.promise.catch(() => undefined);
  return { first: first.promise, last };
}

async function oneTurn(run: Run, name: string, kind: Kind, onFirst: (results: readonly StepResult[]) => void) {
  const { turns, context } = run;
  await Promise.all(Object.keys(kind.after).map((before) => turns.get(before)?.first));
  if (!isStepped(kind, context)) return nothing;
  return stepAndWait(name, kind, context, doneBy(run, kind), async (results) => {
    const outcomes = new Set(results.map(({ outcome }) => outcome));
    const old = Object.entries(kind.changes ?? {}).filter(([, by]) => by.some((outcome) => outcomes.has(outcome)));
    await Promise.all(old.map(([other]) => listAnew(context, other)));
    onFirst(results);
  });
}

/** Before others look at it. The kind that can't do without it asks again, and tells of the failure. */
async function listAnew({ lists }: KindContext, old: string): Promise<void> {
  lists.forget(old);
  await lists.of(old).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
  });
}

/** Aborts when the kinds that this one waits no longer than have ended with work left. */
function doneBy({ turns }: Run, { waits }: Kind): AbortSignal {
  const ending = new AbortController();
  for (const name of Object.keys(waits?.until ?? {}))
    turns.get(name)?.last.then(
      ({ results }) => results.some(hasWork) && ending.abort(),
      () => ending.abort(),
    );
  return ending.signal;
}

/** With the turn that it has again, where it has one. */
async function wholeTurn(run: Run, name: string, kind: Kind): Promise<Looked> {
  const turn = run.turns.get(name);
  if (!turn) return nothing;
  const looked = await turn.last;
  if (!kind.again || !isStepped(kind, run.context) || !(await isDue(run, kind.again, looked.results))) return looked;
  run.context.lists.forget(name);
  const { results = [] } = (await firstSteps(name, kind, run.context)) ?? {};
  return { ...looked, results: secondTurn(looked.results, results) };
}

/** Takes nothing back: what an object did in the first turn is still to be gone on with. */
function secondTurn(before: readonly StepResult[], now: readonly StepResult[]): readonly StepResult[] {
  const acted = new Map(before.filter(hasActed).map((one) => [keyOf(one), one]));
  return merged(before, now, new Set(now.map(keyOf))).map((one): StepResult => {
    const was = acted.get(keyOf(one));
    return was ? { ...one, outcome: 'acted', workRemains: one.workRemains || was.workRemains } : one;
  });
}

async function isDue({ turns }: Run, { after, isDue: isWorthIt }: Again<StepResult>, first: readonly StepResult[]) {
  const of = new Map<string, readonly StepResult[]>();
  await Promise.all(
    Object.entries(after).map(async ([name, { applies }]) => {
      if (applies?.(first) ?? true) of.set(name, (await turns.get(name)?.last)?.results ?? []);
    }),
  );
  return isWorthIt(first, (name) => of.get(name) ?? []);
}
