import { aborted, firstAbort } from '../../manifests/abort-after.ts';
import { isAboutAll, type Kind, type KindContext, type Waits } from './kind.ts';
import { type Looked, nothing, withLate, withTaken } from './looked.ts';
import { patiently, whileWaiting } from './patience.ts';
import { hasWork, type StepResult } from './result.ts';
import { goOnWithout, keyOfItem, ownOf, soon, stepped, worthStepping } from './step-kind.ts';
import { type UnderWay, underWay } from './under-way.ts';
import { waitAndStep } from './wait.ts';
import { type Adopting, createWaker, type Waker } from './wake.ts';

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
    using waker = wakerFor(kind, waits, resourceVersion, context);
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
    await aborted(steps.stirred());
    results = withTaken(results, steps);
  }
  return results;
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

/** All at once, for a kind that waits for nothing more. */
export async function firstSteps(name: string, kind: Kind, context: KindContext): Promise<Looked | undefined> {
  const begun = await beginSteps(name, kind, context, whileWaiting(context));
  return begun && { ...nothing, results: await begun.steps.all };
}

function wakerFor(
  kind: Kind,
  { label, adopts }: Waits<StepResult>,
  resourceVersion: string,
  context: KindContext,
): Waker {
  const { kube, namespace, log } = context;
  // While a follow-up is under way, an invocation that begins something leaves the rest to it.
  const adopting = isAboutAll(context) && adopts ? { adopts: ofOwn(kind, adopts, context) } : {};
  return createWaker({ kube, namespace, log, resourceVersion, label, ...adopting });
}

/** What another shard steps wakes nothing here. */
function ofOwn(kind: Kind, { resource, isBegun }: Adopting, context: KindContext): Adopting {
  return { resource, isBegun: (object) => isBegun(object) && ownOf(kind, [object], context).length > 0 };
}
