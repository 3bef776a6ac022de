import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../manifests/render/names.ts';
import { type Kube, KubeError } from '../interfaces/kube.ts';
import { inParallel } from '../stepping/in-parallel.ts';
import { traced } from '../stepping/traced.ts';
import { actingFor } from './account.ts';
import { type ApplyContext, type ApplyOutcome, applyOne } from './apply.ts';
import { claimRevision } from './attempt.ts';
import { complaintFor } from './complaint.ts';
import { type Inherited, writeInherited } from './inherited.ts';
import { inventoryAfter } from './inventory.ts';
import { keyOf } from './names.ts';
import { calledOf, type FleetObject, identityOfObject, resourceOf } from './objects.ts';
import type { FleetOutcome } from './outcome.ts';
import { tellOverwritten } from './overwritten.ts';
import { type FleetPlan, type PlanInput, planFleet, problemAt } from './plan.ts';
import type { DesiredSpec, Reading, SpecProblem } from './reading.ts';

export interface ActInput extends Omit<PlanInput, 'revision' | 'tree'> {
  readonly reading: Extract<Reading, { kind: 'tree' }>;
  readonly kube: Kube;
  readonly signal: AbortSignal;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

export type ActResult =
  /** `fleet`: with the attempt that was recorded, to report on. */
  | { readonly kind: 'acted'; readonly fleet: EtcdFleet; readonly outcome: FleetOutcome }
  /** The fleet changed, or another invocation began a newer attempt: look at everything again, or stop. */
  | { readonly kind: 'lost' };

const parallel = 8;

/**
 * Applies and prunes by the plan, once the attempt at the revision is recorded. @throws {KubeError} when the attempt
 * can't be recorded; failures of single objects are in the outcome
 */
export function actOnFleet(input: ActInput): Promise<ActResult> {
  return traced('apply', { fleet: keyOf(input.fleet), revision: input.reading.revision }, async (note) => {
    const result = await applyAndPrune(input);
    note({ outcome: result.kind });
    return result;
  });
}

async function applyAndPrune(input: ActInput): Promise<ActResult> {
  const { kube, fleet, reading, signal } = input;
  const { revision, tree } = reading;
  const plan = planFleet({ ...input, revision, tree });
  const attempt = await claimRevision(kube, fleet, reading, signal);
  if (attempt.kind === 'lost') return attempt;

  const context: ApplyContext = {
    fleet: attempt.fleet,
    revision,
    ...(attempt.overtook && { overtook: attempt.overtook }),
    ...(input.shown && { shown: input.shown }),
    kube,
    asFleet: actingFor(fleet, kube),
    signal,
    tellInherited: (news) => tellInherited(input, news),
  };
  const [first = [], later = []] = [false, true].map((isLater) =>
    plan.applies.filter(({ spec }) => plan.afterPrune.has(spec) === isLater),
  );
  const applied = await inParallel(first, parallel, (planned) => applyOne(planned, context));
  if (applied.some(({ kind }) => kind === 'superseded')) return { kind: 'lost' };
  await tellAll(input, first, applied);
  const pruned = await inParallel(plan.prune, parallel, (object) => pruneOne(object, context));
  // An inventory that outgrows its bounds could not be written at all.
  const isRoom = pruned.every(({ kind }) => kind === 'pruned');
  const rest = await inParallel(later, parallel, async (planned) =>
    isRoom ? applyOne(planned, context) : withoutRoom(planned.spec),
  );
  if (rest.some(({ kind }) => kind === 'superseded')) return { kind: 'lost' };
  await tellAll(input, later, rest);
  return { kind: 'acted', fleet: attempt.fleet, outcome: outcomeOf(input, plan, [...applied, ...rest], pruned) };
}

function withoutRoom(spec: DesiredSpec): ApplyOutcome {
  const what = calledOf(spec.kind, spec);
  return {
    kind: 'retry',
    spec,
    message: `${what} waits until the inventory has room: not everything could be deleted`,
  };
}

/** An event that can't be written is no reason to report nothing else. */
async function tellAll(
  { kube, fleet, reading, signal, log }: ActInput,
  planned: FleetPlan['applies'],
  outcomes: readonly ApplyOutcome[],
): Promise<void> {
  const facts = { revision: reading.revision, applied: fleet.status?.revision?.applied, signal };
  await Promise.all(
    outcomes.map(async (outcome, index) => {
      const one = planned[index];
      if (!one || outcome.kind !== 'applied') return;
      await tellOverwritten(kube, one, outcome, facts).catch((error: unknown) => {
        if (!(error instanceof KubeError)) throw error;
        log(
          { cluster: identityOfObject(outcome.object), problem: error.message },
          'no event says that Git has put it back',
        );
      });
    }),
  );
}

/** An event that can't be written does not undo it. */
async function tellInherited({ kube, fleet, signal, log }: ActInput, news: Inherited): Promise<void> {
  const facts = { cluster: identityOfObject(news.live), fleet: keyOf(fleet) };
  log({ ...facts, from: news.ownership.from.join(', ') }, 'what kubectl wrote of it belongs to the fleet now');
  await writeInherited(kube, fleet, news, signal).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
    log({ ...facts, problem: error.message }, 'no event says that what kubectl wrote belongs to the fleet now');
  });
}

type PruneOutcome =
  | { readonly kind: 'pruned'; readonly object: FleetObject }
  | { readonly kind: 'problem' | 'retry'; readonly object: FleetObject; readonly message: string };

/** By UID and resourceVersion: what changed since it was listed, be it only its owner, is looked at again first. */
async function pruneOne(object: FleetObject, { asFleet, fleet, signal }: ApplyContext): Promise<PruneOutcome> {
  const { kind, metadata } = object;
  const { namespace, name, uid = '', resourceVersion = '' } = metadata;
  try {
    await asFleet.delete(resourceOf(kind), namespace, name, { preconditions: { uid, resourceVersion }, signal });
    return { kind: 'pruned', object };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.class === 'precondition') {
      return { kind: 'retry', object, message: `${calledOf(kind, metadata)} changed before it could be deleted` };
    }
    const message = `not deleted: ${complaintFor(error, { kind, namespace: namespace ?? '', name }, fleet)}`;
    return { kind: error.class === 'terminal' ? 'problem' : 'retry', object, message };
  }
}

function outcomeOf(
  { reading, ...input }: ActInput,
  plan: FleetPlan,
  applied: readonly ApplyOutcome[],
  pruned: readonly PruneOutcome[],
): FleetOutcome {
  const done = applied.flatMap((one) => (one.kind === 'applied' ? [one] : []));
  const problems: SpecProblem[] = [
    ...plan.problems,
    ...applied.flatMap((one) => (one.kind === 'problem' ? [problemAt(one.spec, one.message)] : [])),
    ...pruned.flatMap((one) => (one.kind === 'problem' ? [problemOf(one.object, one.message)] : [])),
  ];
  const retries = [
    ...applied.flatMap((one) => (one.kind === 'retry' ? [one.message] : [])),
    ...pruned.flatMap((one) => (one.kind === 'retry' ? [one.message] : [])),
    ...plan.leaving.map((spec) => `${calledOf(spec.kind, spec)} is being deleted, and is applied anew afterwards`),
  ];
  const gone = new Set(pruned.flatMap((one) => (one.kind === 'pruned' ? [one.object.metadata.uid] : [])));
  const { inventory, unlisted } = inventoryAfter(input, reading.tree, plan, { done, gone });
  return {
    reading,
    problems,
    retries,
    unlisted: {
      kept: [...plan.keep.map(({ object, because }) => ({ key: identityOfObject(object), because })), ...unlisted],
      ...(plan.confirmation && { confirmation: plan.confirmation }),
      ...(plan.refused && { refused: plan.refused }),
      notes: reading.tree.notes,
    },
    inventory,
    applied: problems.length === 0 && retries.length === 0,
    changed: new Set(done.filter(({ changed }) => changed).map(({ object }) => identityOfObject(object))),
    pruned: pruned.flatMap((one) => (one.kind === 'pruned' ? [identityOfObject(one.object)] : [])),
  };
}

function problemOf({ kind, metadata }: FleetObject, message: string): SpecProblem {
  const { namespace, name } = metadata;
  const file = metadata.annotations?.[annotations.source] ?? '';
  return { file, line: 0, column: 0, message, kind, ...(namespace && { namespace }), name };
}
