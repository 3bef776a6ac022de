import { setTimeout as pause } from 'node:timers/promises';
import { KubeError, type KubeObject } from '../interfaces/kube.ts';
import type { Kind, KindContext } from './kind.ts';
import { keyOf, type StepResult } from './result.ts';
import { isIn, wholeUnit } from './shard.ts';
import type { Steps } from './under-way.ts';

/** Milliseconds that objects which have had their steps wait for the others. Silence takes many times that. */
const soonMs = 1_000;
/** When all are over, or a while after that. @throws what the steps throw until then */
export async function soon(all: Steps, from: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const later = from.then(() => pause(soonMs, undefined, { signal })).catch(() => undefined);
  try {
    await Promise.race([all, later]);
  } finally {
    over.abort();
  }
}

/** Where the pass is made without the kind, what keeps it from being looked at is logged. */
export function goOnWithout(kind: Kind, { log }: KindContext, error: unknown): undefined {
  if (!kind.problem || !(error instanceof KubeError)) throw error;
  log({ problem: error.message }, kind.problem(error));
}

export function worthStepping(kind: Kind, all: readonly KubeObject[], context: KindContext): readonly KubeObject[] {
  const own = ownOf(kind, all, context);
  const worth = kind.worthAStep?.(own, context) ?? own;
  // Lists may lack some of their objects. Clusters tell of it themselves.
  const leftOut = kind.tellsLeftOut ? undefined : context.kube.leftOut();
  return worth.filter(({ metadata }) => !leftOut?.has(metadata.namespace ?? ''));
}

/** Those that this invocation steps, of several that share the pass. */
export function ownOf<Item extends KubeObject>(
  { units }: Pick<Kind<Item>, 'units'>,
  all: readonly Item[],
  { shard, lists }: Pick<KindContext, 'shard' | 'lists'>,
): readonly Item[] {
  if (!shard) return all;
  const of = units(all, { lists });
  return all.filter((_, index) => isIn(shard, of[index] ?? ''));
}

export function keyOfItem({ metadata }: KubeObject): string {
  return keyOf(metadata);
}

export async function stepped(
  kind: Kind,
  chosen: readonly KubeObject[],
  context: KindContext,
  all: readonly KubeObject[],
): Promise<readonly StepResult[]> {
  // Of another shard's objects, which are none here, nothing is left over.
  const seesToNone = kind.stepsNone && isIn(context.shard, wholeUnit);
  return chosen.length === 0 && !seesToNone ? [] : kind.step(chosen, context, all);
}
