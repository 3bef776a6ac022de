import { KubeError } from '../interfaces/kube.ts';
import { isAboutAll, type Kind, type KindContext, type Waits } from './kind.ts';
import { inTime, patiently, whileWaiting } from './patience.ts';
import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';
import { createWaker, forgetNews, type Waker, waitFor } from './wake.ts';

export interface Looked {
  readonly results: readonly StepResult[];
  /** An object of the wait has gone. */
  readonly hasGone: boolean;
}

export const nothing: Looked = { results: [], hasGone: false };

interface Waking {
  readonly name: string;
  readonly kind: Kind;
  readonly waits: Waits<StepResult>;
  readonly context: KindContext;
  readonly waker: Waker;
  readonly until: AbortSignal;
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
  const first = await firstSteps(name, kind, context, inWait);
  if (!first) return nothing;
  await onFirst(first.results);
  const { waits } = kind;
  if (!waits || waitMs <= 0 || dryRun || isOver(waits, first.results)) return { ...first, hasGone: false };
  using waker = wakerFor(waits, first.resourceVersion, context);
  const until = AbortSignal.any([inWait, done]);
  return await waitAndStep({ name, kind, waits, context, waker, until }, first.results);
}

/** Asked for again only where no pass could be made without: the others cost the pass no time. */
export async function firstSteps(name: string, kind: Kind, context: KindContext, until = whileWaiting(context)) {
  const { log } = context;
  const steps = async () => {
    const listed = await context.lists.of(name);
    return { resourceVersion: listed.resourceVersion, results: await stepped(kind, listed.items, context) };
  };
  if (!kind.problem) return patiently({ log, until }, steps);
  return steps().catch((error: unknown) => goOnWithout(kind, context, error));
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
  const { waits, context, waker, until } = waking;
  let results = first;
  let hasGone = false;
  while (!isOver(waits, results)) {
    const woken = await waitFor(waker, waits.wakesOn(results, context.kube.now() ?? new Date()), until);
    if (woken.size === 0) break;
    const looked = waits.again === 'all' ? new Set(results.filter(hasWork).map(keyOf)) : woken;
    const again = await inTime({ log: context.log, until }, () => lookAgain(waking, looked));
    // Stopped, out of time, or refused: what remains is left to the next one, which asks all of that again.
    if (!again) break;
    hasGone ||= waits.again === 'woken' && [...looked].some((key) => !again.some((one) => keyOf(one) === key));
    results = merged(results, again, looked);
  }
  return { results: results.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)), hasGone };
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
