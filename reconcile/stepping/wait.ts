import { aborted, firstAbort } from '../../manifests/abort-after.ts';
import type { Kind, KindContext, Waits } from './kind.ts';
import { listAgain } from './list-again.ts';
import { type Looked, merged, nothing, withLate } from './looked.ts';
import { inTime } from './patience.ts';
import { hasActed, hasWork, keyOf, type StepResult } from './result.ts';
import { goOnWithout, keyOfItem, soon, stepped } from './step-kind.ts';
import { type UnderWay, underWay } from './under-way.ts';
import { forgetNews, type Waker, waitFor } from './wake.ts';

/** Looks under way, each of which keeps lists of its own. */
const mostLooks = 2;

export interface Waking {
  readonly name: string;
  readonly kind: Kind;
  readonly waits: Waits<StepResult>;
  readonly context: KindContext;
  readonly waker: Waker;
  readonly until: AbortSignal;
}

/**
 * Looks again at what wakes, until there is no work, one has acted, or time is over.
 * @throws what steps throw, of a kind without which no pass was made
 */
export async function waitAndStep(waking: Waking, first: UnderWay): Promise<Looked> {
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
    const stirred = firstAbort(until, ...looks.map((look) => look.stirred()));
    if (looks.length >= (waits.again === 'all' ? 1 : mostLooks)) {
      await aborted(stirred);
      continue;
    }
    const idle = results.filter((one) => !stepping.has(keyOf(one)));
    const wakes = waits.wakesOn(idle, context.kube.now() ?? new Date());
    const sinceThen = wakes.map((one) => ({ ...one, since: cameAt.get(one.key) ?? since }));
    const woken = await waitFor(waker, sinceThen, stirred, stepping);
    if (woken.size === 0 && looks.length > 0) continue;
    if (woken.size === 0) break;
    const looked = waits.again === 'all' ? new Set(results.filter(hasWork).map(keyOf)) : woken;
    const isStopped = await inTime({ log: context.log, until }, async () => (await context.isStopped?.()) ?? false);
    // Stopped, or out of time: what remains is left to the next one, which asks all of that again.
    if (isStopped !== false) break;
    forgetNews(waker, looked, results.map(keyOf));
    const look = lookAgain(waking, looked, results);
    looks = [...looks, look];
    // A failure is thrown where its results are taken.
    const all = look.all.catch(() => nothing.results);
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
      const { items, worth, ...found } = await listAgain(name, kind, context, left);
      // Of those that had their step before it failed, none gets another.
      const chosen = waits.again === 'all' ? worth : worth.filter((one) => left.has(keyOfItem(one)));
      return stepped(kind, chosen, { ...found.context, onStep }, items);
    });
    return results ?? before.filter((one) => left.has(keyOf(one)));
  });
}

function isOver(
  { untilActed }: Waits<StepResult>,
  results: readonly StepResult[],
  looks: readonly UnderWay[],
): boolean {
  return (looks.length === 0 && !results.some(hasWork)) || (untilActed === true && results.some(hasActed));
}
