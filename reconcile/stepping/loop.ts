import { setTimeout as pause } from 'node:timers/promises';
import { firstAbort } from '../../manifests/abort-after.ts';
import { KubeError, type KubeObject } from '../interfaces/kube.ts';
import { isAboutAll, type Kind, type KindContext, type Waits } from './kind.ts';
import { inTime, patiently, whileWaiting } from './patience.ts';
import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';
import { type Steps, type UnderWay, underWay } from './under-way.ts';
import { createWaker, forgetNews, none, type Waker, waitFor } from './wake.ts';

export interface Looked {
  readonly results: readonly StepResult[];
  /** An object of the wait has gone. */
  readonly hasGone: boolean;
  /** Those that acted before all had their first steps, and were told early. */
  readonly told: ReadonlySet<string>;
}

export const nothing: Looked = { results: [], hasGone: false, told: new Set() };

/** Milliseconds that objects which have had their steps wait for the others. Silence takes many times that. */
const soonMs = 1_000;
/** Looks under way, each of which keeps lists of its own. */
const mostLooks = 2;

interface Waking {
  readonly name: string;
  readonly kind: Kind;
  readonly waits: Waits<StepResult>;
  readonly context: KindContext;
  readonly waker: Waker;
  readonly until: AbortSignal;
}

/**
 * One step for each object; then, within the time given, another look at those that wake. Those whose step takes long
 * hold up no other, as long as no more than two looks are at such: what the others do is told, and gone on with.
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
  const { steps, resourceVersion } = begun;
  const firstOver = steps.all.then(onFirst);
  // Awaited below, also where the steps throw.
  firstOver.catch(() => undefined);
  if (steps.isOver()) await firstOver;
  const { waits } = kind;
  const looked = async (): Promise<Looked> => {
    if (!waits || waitMs <= 0 || dryRun) {
      const { told } = await withLate(name, context, [steps], await firstWork(steps));
      return { ...nothing, results: await steps.all, told };
    }
    using waker = wakerFor(waits, resourceVersion, context);
    return await waitAndStep({ name, kind, waits, context, waker, until: firstAbort(inWait, done) }, steps);
  };
  const all = await looked();
  await firstOver;
  return all;
}

/** What there is as soon as any of it has work; where none has, all. */
async function firstWork(steps: UnderWay): Promise<readonly StepResult[]> {
  let results = withTaken([], steps);
  while (!steps.isOver() && !results.some(hasWork)) {
    await nobodyUntil(steps.stirred());
    results = withTaken(results, steps);
  }
  return results;
}

/** Tells of what there is, and waits for the rest. */
async function withLate(
  name: string,
  { onEarly, dryRun }: KindContext,
  looks: readonly UnderWay[],
  results: readonly StepResult[],
): Promise<Pick<Looked, 'results' | 'told'>> {
  const isLate = looks.some((one) => !one.isOver());
  const isTold = onEarly !== undefined && !dryRun && isLate && results.some(hasWork);
  if (isTold) {
    const moved = results.some(hasActed);
    await onEarly({ results: { [name]: results }, workRemains: true, moved, unsettled: false });
  }
  await Promise.all(looks.map(({ all }) => all));
  return {
    results: looks.reduce(withTaken, results),
    told: new Set(isTold ? results.filter(hasActed).map(keyOf) : []),
  };
}

function withTaken(results: readonly StepResult[], look: UnderWay): readonly StepResult[] {
  const taken = look.take();
  return merged(results, taken, new Set(taken.map(keyOf)));
}

interface Begun {
  readonly resourceVersion: string;
  readonly steps: UnderWay;
}

/** Asked for again only where no pass could be made without: the others cost the pass no time. */
async function beginSteps(
  name: string,
  kind: Kind,
  context: KindContext,
  until: AbortSignal,
): Promise<Begun | undefined> {
  const begin = async (): Promise<Begun> => {
    const { items, resourceVersion } = await context.lists.of(name);
    const chosen = worthStepping(kind, items, context);
    const steps = underWay(new Set(chosen.map(keyOfItem)), (onStep) =>
      stepped(kind, chosen, { ...context, onStep }, items),
    );
    await soon(steps.all, steps.first);
    return { resourceVersion, steps };
  };
  if (!kind.problem) return patiently({ log: context.log, until }, begin);
  return begin().catch((error: unknown) => goOnWithout(kind, context, error));
}

/** When all are over, or a while after that. @throws what the steps throw until then */
async function soon(all: Steps, from: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const later = from.then(() => pause(soonMs, undefined, { signal })).catch(() => undefined);
  try {
    await Promise.race([all, later]);
  } finally {
    over.abort();
  }
}

/** All at once, for a kind that waits for nothing more. */
export async function firstSteps(name: string, kind: Kind, context: KindContext): Promise<Looked | undefined> {
  const begun = await beginSteps(name, kind, context, whileWaiting(context));
  return begun && { ...nothing, results: await begun.steps.all };
}

/** Where the pass is made without the kind, what keeps it from being looked at is logged. */
function goOnWithout(kind: Kind, { log }: KindContext, error: unknown): undefined {
  if (!kind.problem || !(error instanceof KubeError)) throw error;
  log({ problem: error.message }, kind.problem(error));
}

function worthStepping(kind: Kind, all: readonly KubeObject[], context: KindContext): readonly KubeObject[] {
  const worth = kind.worthAStep?.(all, context) ?? all;
  // Lists may lack some of their objects. Clusters tell of it themselves.
  const leftOut = kind.tellsLeftOut ? undefined : context.kube.leftOut();
  return worth.filter(({ metadata }) => !leftOut?.has(metadata.namespace ?? ''));
}

function keyOfItem({ metadata }: KubeObject): string {
  return keyOf(metadata);
}

async function stepped(
  kind: Kind,
  chosen: readonly KubeObject[],
  context: KindContext,
  all: readonly KubeObject[],
): Promise<readonly StepResult[]> {
  return chosen.length === 0 && !kind.stepsNone ? [] : kind.step(chosen, context, all);
}

function isOver(
  { untilActed }: Waits<StepResult>,
  results: readonly StepResult[],
  looks: readonly UnderWay[],
): boolean {
  return (looks.length === 0 && !results.some(hasWork)) || (untilActed === true && results.some(hasActed));
}

function wakerFor({ label, adopts }: Waits<StepResult>, resourceVersion: string, context: KindContext): Waker {
  const { kube, namespace, log } = context;
  // While a follow-up is under way, an invocation that begins something leaves the rest to it.
  return createWaker({ kube, namespace, log, resourceVersion, label, ...(isAboutAll(context) && { adopts }) });
}

async function waitAndStep(waking: Waking, first: UnderWay): Promise<Looked> {
  const { name, kind, waits, context, waker, until } = waking;
  let looks: readonly UnderWay[] = [first];
  let [results, hasGone] = [nothing.results, false];
  /** When each came, of those that came after the others. */
  const cameAt = new Map<string, number>();
  let since = performance.now();
  for (;;) {
    const over = looks.filter((look) => look.isOver());
    const left = looks.filter((look) => !over.includes(look));
    const missing = await missingIn(over).catch((error: unknown) => goOnWithout(kind, context, error));
    const taken = missing ? looks.flatMap((look) => look.take()) : [];
    looks = left;
    // Refused: what was learned is kept.
    if (!missing) break;
    for (const one of taken) cameAt.set(keyOf(one), performance.now());
    hasGone ||= waits.again === 'woken' && results.some((one) => missing.has(keyOf(one)));
    results = merged(results, taken, missing);
    if (isOver(waits, results, looks) || until.aborted) break;
    const stepping = new Set(looks.flatMap(({ keys }) => [...keys]));
    const idle = results.filter((one) => !stepping.has(keyOf(one)));
    const wakes = waits.wakesOn(idle, context.kube.now() ?? new Date());
    const sinceThen = wakes.map((one) => ({ ...one, since: cameAt.get(one.key) ?? since }));
    const stirred = firstAbort(until, ...looks.map((look) => look.stirred()));
    const isFull = looks.length >= (waits.again === 'all' ? 1 : mostLooks);
    const woken = isFull ? await nobodyUntil(stirred) : await waitFor(waker, sinceThen, stirred, stepping);
    if (woken.size === 0 && looks.length > 0) continue;
    if (woken.size === 0) break;
    const looked = waits.again === 'all' ? new Set(results.filter(hasWork).map(keyOf)) : woken;
    const isStopped = await inTime({ log: context.log, until }, async () => (await context.isStopped?.()) ?? false);
    // Stopped, or out of time: what remains is left to the next one, which asks all of that again.
    if (isStopped !== false) break;
    forgetNews(waker, looked, results.map(keyOf));
    looks = [...looks, lookAgain(waking, looked, results)];
    const all = looks.at(-1)?.all.catch(() => nothing.results) ?? Promise.resolve(nothing.results);
    await (waits.again === 'all' ? all : soon(all, Promise.resolve()));
    cameAt.clear();
    since = performance.now();
  }
  const { results: all, told } = await withLate(name, context, looks, results);
  return { results: inOrder(all), hasGone, told };
}

function inOrder(results: readonly StepResult[]): readonly StepResult[] {
  return results.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** What was looked at and gave no result: it is gone, or could not be seen. @throws what the steps throw */
async function missingIn(looks: readonly UnderWay[]): Promise<ReadonlySet<string>> {
  const missing = await Promise.all(
    looks.map(async ({ chosen, all }) => {
      const there = new Set((await all).map(keyOf));
      return [...chosen].filter((key) => !there.has(key));
    }),
  );
  return new Set(missing.flat());
}

/** Asks again while no list is given and time is left. After that, what was seen before it stays as it was. */
function lookAgain(
  { name, kind, waits, context, until }: Waking,
  looked: ReadonlySet<string>,
  before: readonly StepResult[],
): UnderWay {
  return underWay(looked, async (onStep, left) => {
    const results = await inTime({ log: context.log, until }, async () => {
      const { items } = await context.lists.fresh(name);
      const worth = worthStepping(kind, items, context);
      // Of those that had their step before it failed, none gets another.
      const chosen = waits.again === 'all' ? worth : worth.filter((one) => left.has(keyOfItem(one)));
      return stepped(kind, chosen, { ...context, onStep }, items);
    });
    return results ?? before.filter((one) => left.has(keyOf(one)));
  });
}

function nobodyUntil(signal: AbortSignal): Promise<ReadonlySet<string>> {
  return new Promise((resolve) => {
    const end = () => resolve(none);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
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
