import { setTimeout as pause } from 'node:timers/promises';
import { firstAbort } from '../../manifests/abort-after.ts';
import { KubeError } from '../interfaces/kube.ts';
import { isAboutAll, type Kind, type KindContext, type Waits } from './kind.ts';
import { inTime, patiently, whileWaiting } from './patience.ts';
import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';
import { createWaker, forgetNews, type Waker, waitFor } from './wake.ts';

export interface Looked {
  readonly results: readonly StepResult[];
  /** An object of the wait has gone. */
  readonly hasGone: boolean;
  /** Those that acted before all had their first steps, and were told early. */
  readonly told: ReadonlySet<string>;
}

export const nothing: Looked = { results: [], hasGone: false, told: new Set() };

/** Milliseconds that objects that have had their first steps wait for the others. Silence takes many times that. */
const afterFirstMs = 1_000;

interface Begun {
  readonly resourceVersion: string;
  /** Those that are there. */
  readonly results: readonly StepResult[];
  /** All of them. Absent: they are there. */
  readonly late?: Promise<readonly StepResult[]>;
}

interface Waking {
  readonly name: string;
  readonly kind: Kind;
  readonly waits: Waits<StepResult>;
  readonly context: KindContext;
  readonly waker: Waker;
  readonly until: AbortSignal;
  readonly late: Late | undefined;
}

/** First steps that are not over: all of them, once they are. */
interface Late {
  readonly all: Promise<readonly StepResult[]>;
  readonly isIn: AbortSignal;
}

/**
 * One step for each object; then, within the time given, another look at those that wake.
 * @param done when other work makes waiting needless
 * @param onFirst called when the first step of each is over
 * @throws {KubeError} of a kind without which no pass was made
 */
export async function stepAndWait(
  name: string,
  kind: Kind,
  context: KindContext,
  done: AbortSignal,
  onFirst: (results: readonly StepResult[]) => Promise<void>,
): Promise<Looked> {
  const { waitMs, dryRun } = context;
  // The first steps take their share of the time: what makes a follow-up needs the rest.
  const inWait = whileWaiting(context);
  const begun = await beginSteps(name, kind, context, inWait);
  if (!begun) return nothing;
  const { results: first, resourceVersion } = begun;
  const late = begun.late && lateOf(begun.late, onFirst);
  if (!late) await onFirst(first);
  const { waits } = kind;
  if (!waits || waitMs <= 0 || dryRun) return { ...nothing, ...(await withLate(name, context, late, first)) };
  using waker = wakerFor(waits, resourceVersion, context);
  const until = firstAbort(inWait, done);
  return await waitAndStep({ name, kind, waits, context, waker, until, late }, first);
}

function lateOf(
  steps: Promise<readonly StepResult[]>,
  onFirst: (results: readonly StepResult[]) => Promise<void>,
): Late {
  const arriving = new AbortController();
  const all = steps.then(async (results) => {
    await onFirst(results);
    return results;
  });
  const arrived = () => arriving.abort();
  // A failure is thrown where it is awaited.
  all.then(arrived, arrived);
  return { all, isIn: arriving.signal };
}

/** Tells of what there is, and waits for the rest. What was looked at again meanwhile stays as it was seen last. */
async function withLate(
  name: string,
  { onEarly, dryRun }: KindContext,
  late: Late | undefined,
  results: readonly StepResult[],
): Promise<Pick<Looked, 'results' | 'told'>> {
  if (!late) return { results, told: nothing.told };
  const isTold = onEarly !== undefined && !dryRun && !late.isIn.aborted && results.some(hasWork);
  if (isTold) {
    const moved = results.some(hasActed);
    await onEarly({ results: { [name]: results }, workRemains: true, moved, unsettled: false });
  }
  return {
    results: merged(await late.all, results, new Set(results.map(keyOf))),
    told: new Set(isTold ? results.filter(hasActed).map(keyOf) : []),
  };
}

/** Asked for again only where no pass could be made without: the others cost the pass no time. */
async function beginSteps(
  name: string,
  kind: Kind,
  context: KindContext,
  until: AbortSignal,
): Promise<Begun | undefined> {
  const steps = async (): Promise<Begun> => {
    const { items, resourceVersion } = await context.lists.of(name);
    return { resourceVersion, ...(await soonStepped(kind, items, context)) };
  };
  if (!kind.problem) return patiently({ log: context.log, until }, steps);
  return steps().catch((error: unknown) => goOnWithout(kind, context, error));
}

/** @throws what the steps throw before there is a first result */
async function soonStepped(
  kind: Kind,
  items: Parameters<Kind['step']>[0],
  context: KindContext,
): Promise<Omit<Begun, 'resourceVersion'>> {
  const early: StepResult[] = [];
  const { promise: first, resolve: onFirst } = Promise.withResolvers<void>();
  const onStep = (result: StepResult) => {
    early.push(result);
    onFirst();
  };
  const all = stepped(kind, items, { ...context, onStep });
  const over = new AbortController();
  const { signal } = over;
  const isLate = first.then(() => pause(afterFirstMs, true, { signal })).catch(() => true);
  try {
    if (await Promise.race([all.then(() => false), isLate])) return { results: [...early], late: all };
    return { results: await all };
  } finally {
    over.abort();
  }
}

/** All at once, for a kind that waits for nothing more. */
export async function firstSteps(name: string, kind: Kind, context: KindContext): Promise<Looked | undefined> {
  const begun = await beginSteps(name, kind, context, whileWaiting(context));
  return begun && { ...nothing, results: (await begun.late) ?? begun.results };
}

/** Where the pass is made without the kind, what keeps it from being looked at is logged. */
function goOnWithout(kind: Kind, { log }: KindContext, error: unknown): undefined {
  if (!kind.problem || !(error instanceof KubeError)) throw error;
  log({ problem: error.message }, kind.problem(error));
}

async function stepped(
  kind: Kind,
  all: Parameters<Kind['step']>[0],
  context: KindContext,
  isChosen: (key: string) => boolean = () => true,
): Promise<readonly StepResult[]> {
  const worth = kind.worthAStep?.(all, context) ?? all;
  // Lists may lack some of their objects. Clusters tell of it themselves.
  const leftOut = kind.tellsLeftOut ? undefined : context.kube.leftOut();
  const chosen = worth.filter(({ metadata }) => isChosen(keyOf(metadata)) && !leftOut?.has(metadata.namespace ?? ''));
  return chosen.length === 0 && !kind.stepsNone ? [] : kind.step(chosen, context, all);
}

function isOver({ untilActed }: Waits<StepResult>, results: readonly StepResult[]): boolean {
  return !results.some(hasWork) || (untilActed === true && results.some(hasActed));
}

function wakerFor({ label, adopts }: Waits<StepResult>, resourceVersion: string, context: KindContext): Waker {
  const { kube, namespace, log } = context;
  // While a follow-up is under way, an invocation that begins something leaves the rest to it.
  return createWaker({ kube, namespace, log, resourceVersion, label, ...(isAboutAll(context) && { adopts }) });
}

async function waitAndStep(waking: Waking, first: readonly StepResult[]): Promise<Looked> {
  const { name, waits, context, waker, until } = waking;
  let { late } = waking;
  let { results, hasGone, told }: Looked = { ...nothing, results: first };
  for (;;) {
    if (late && (isOver(waits, results) || late.isIn.aborted || until.aborted)) {
      ({ results, told } = await withLate(name, context, late, results));
      late = undefined;
    }
    if (isOver(waits, results)) break;
    const wakes = waits.wakesOn(results, context.kube.now() ?? new Date());
    const woken = await waitFor(waker, wakes, late ? firstAbort(until, late.isIn) : until);
    if (woken.size === 0 && late) continue;
    if (woken.size === 0) break;
    const looked = waits.again === 'all' ? new Set(results.filter(hasWork).map(keyOf)) : woken;
    const again = await inTime({ log: context.log, until }, () => lookAgain(waking, looked));
    // Stopped, out of time, or refused: what remains is left to the next one, which asks all of that again.
    if (!again) break;
    hasGone ||= waits.again === 'woken' && [...looked].some((key) => !again.some((one) => keyOf(one) === key));
    results = merged(results, again, looked);
  }
  if (late) ({ results, told } = await withLate(name, context, late, results));
  return { results: results.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)), hasGone, told };
}

async function lookAgain(
  { name, kind, waits, context, waker }: Waking,
  looked: ReadonlySet<string>,
): Promise<readonly StepResult[] | undefined> {
  if (await context.isStopped?.()) return undefined;
  forgetNews(waker);
  try {
    const { items } = await context.lists.fresh(name);
    return await stepped(kind, items, context, (key) => waits.again === 'all' || looked.has(key));
  } catch (error) {
    if (error instanceof KubeError && error.class === 'retryable') throw error;
    return goOnWithout(kind, context, error);
  }
}

/** What was done counts for the whole invocation; what was looked at and is not there any more, does not. */
export function merged(
  before: readonly StepResult[],
  now: readonly StepResult[],
  looked: ReadonlySet<string>,
): readonly StepResult[] {
  const keys = new Set(now.map(keyOf));
  const acted = new Set(before.filter(hasActed).map(keyOf));
  const kept = before.filter((one) => !keys.has(keyOf(one)) && !looked.has(keyOf(one)));
  const told = now.map(
    (one): StepResult => (one.outcome === 'none' && acted.has(keyOf(one)) ? { ...one, outcome: 'acted' } : one),
  );
  return [...kept, ...told];
}
