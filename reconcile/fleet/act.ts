import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import { annotations } from '../../manifests/render/names.ts';
import { type Kube, KubeError } from '../interfaces/kube.ts';
import { inParallel } from '../stepping/in-parallel.ts';
import { traced } from '../stepping/traced.ts';
import { actingFor } from './account.ts';
import { type ApplyContext, type ApplyOutcome, applyOne } from './apply.ts';
import { claimRevision } from './attempt.ts';
import { complaintFor } from './complaint.ts';
import { type Inherited, writeInherited } from './inherited.ts';
import { handedOverTo, keyOf, ownObjects } from './names.ts';
import { calledOf, type FleetObject, identityOf, identityOfObject, kindOfEntry, resourceOf } from './objects.ts';
import type { FleetOutcome } from './outcome.ts';
import { tellOverwritten } from './overwritten.ts';
import { type FleetPlan, objectsOf, type PlanInput, planFleet, problemAt } from './plan.ts';
import { wasShownToStay } from './prune.ts';
import type { DesiredSpec, DesiredTree, Reading, SpecProblem } from './reading.ts';

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
  return {
    reading,
    problems,
    retries,
    unlisted: {
      kept: [
        ...plan.keep.map(({ object, because }) => ({ key: identityOfObject(object), because })),
        ...unseenIn(input, reading.tree).map((key) => ({ key, because: 'NamespaceLeftOut' as const })),
        ...unlabelledIn(input, reading.tree).map((key) => ({ key, because: 'LabelChanged' as const })),
      ],
      ...(plan.confirmation && { confirmation: plan.confirmation }),
      ...(plan.refused && { refused: plan.refused }),
      notes: reading.tree.notes,
    },
    inventory: inventoryOf(input, plan, done, gone),
    applied: problems.length === 0 && retries.length === 0,
    changed: new Set(done.filter(({ changed }) => changed).map(({ object }) => identityOfObject(object))),
    pruned: pruned.flatMap((one) => (one.kind === 'pruned' ? [identityOfObject(one.object)] : [])),
  };
}

/** Unlisted as well, as far as it is known: until it can be seen, the former place has something left. */
function unseenIn({ fleet, leftOut }: Omit<ActInput, 'reading'>, { specs }: DesiredTree): readonly string[] {
  const named = new Set(specs.map((one) => identityOf(one.kind, one)));
  return (fleet.status?.inventory ?? [])
    .filter(({ namespace }) => leftOut?.has(namespace))
    .map((entry) => identityOf(kindOfEntry(entry), entry))
    .filter((key) => !named.has(key));
}

/** Unlisted as well: only what bears the fleet's label is deleted. */
function unlabelledIn(input: Omit<ActInput, 'reading'>, { specs }: DesiredTree): readonly string[] {
  const named = new Set(specs.map((one) => identityOf(one.kind, one)));
  const strayed = new Set(strayedFrom(input).map(({ uid }) => uid));
  return objectsOf(input)
    .filter((object) => strayed.has(object.metadata.uid ?? '') && !handedOverTo(object))
    .map(identityOfObject)
    .filter((key) => !named.has(key));
}

/**
 * Entries whose objects live and are not the fleet's by their labels, nor any other fleet's by its inventory. They
 * stay in this one (four eyes): any editor may change a label, and would be rid of what the fleet demands.
 */
function strayedFrom(input: Omit<ActInput, 'reading'>): readonly FleetInventoryEntry[] {
  const { fleet, fleets } = input;
  const objects = objectsOf(input);
  const own = new Set(ownObjects(fleet, objects).map(({ metadata }) => metadata.uid));
  const live = new Set(objects.map(({ metadata }) => metadata.uid));
  const others = fleets.filter(({ metadata }) => metadata.uid !== fleet.metadata.uid);
  const theirs = new Set(others.flatMap(({ status }) => status?.inventory ?? []).map(({ uid }) => uid));
  return (fleet.status?.inventory ?? []).filter(({ uid }) => live.has(uid) && !own.has(uid) && !theirs.has(uid));
}

/** What the apply left, and what is owned but was not applied: at generation 0 if that is for want of success. */
function inventoryOf(
  input: Omit<ActInput, 'reading'>,
  { keep, ran }: FleetPlan,
  done: readonly Extract<ApplyOutcome, { kind: 'applied' }>[],
  gone: ReadonlySet<string | undefined>,
): readonly FleetInventoryEntry[] {
  const { fleet } = input;
  const fresh = done.map(({ spec, object }) =>
    entryOf(withKindOf(spec, object), spec.file, object.metadata.generation ?? 0),
  );
  const applied = new Set([...fresh, ...ran].map(({ uid }) => uid));
  const others = ownObjects(fleet, objectsOf(input)).filter(
    ({ metadata }) => !applied.has(metadata.uid ?? '') && !gone.has(metadata.uid),
  );
  const before = new Map((fleet.status?.inventory ?? []).map((entry) => [entry.uid, entry]));
  const unlisted = new Set(keep.map(({ object }) => object.metadata.uid));
  const kept = others.map((object) => {
    const source = before.get(object.metadata.uid ?? '')?.source;
    const entry = entryOf(
      object,
      source ?? object.metadata.annotations?.[annotations.source] ?? '',
      unlisted.has(object.metadata.uid) ? (object.metadata.generation ?? 0) : 0,
    );
    const isHeld = unlisted.has(object.metadata.uid) && wasShownToStay(object, { ...input, inventory: before });
    return isHeld ? { ...entry, shownToStay: true } : entry;
  });
  const order = ({ kind = '', namespace, name }: FleetInventoryEntry) => `${namespace}/${name} ${kind}`;
  // Unknown is not gone: out of the inventory, it would never be pruned.
  const known = new Set([...fresh, ...kept, ...ran].map(({ uid }) => uid));
  const unseen = (fleet.status?.inventory ?? []).filter(({ namespace }) => input.leftOut?.has(namespace));
  const strayed = strayedFrom(input).map((entry) => ({ ...entry, generation: 0 }));
  const rest = [...unseen, ...strayed].filter(({ uid }) => !known.has(uid));
  return [...fresh, ...kept, ...ran, ...rest].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** What a write answers with has its kind; a fake or a proxy may leave it out. */
function withKindOf({ kind }: FleetPlan['applies'][number]['spec'], object: FleetObject): FleetObject {
  return { ...object, kind } as FleetObject;
}

function entryOf({ kind, metadata }: FleetObject, source: string, generation: number): FleetInventoryEntry {
  const { namespace = '', name, uid = '' } = metadata;
  return { ...(kind !== 'EtcdCluster' && { kind }), namespace, name, uid, generation, source };
}

function problemOf({ kind, metadata }: FleetObject, message: string): SpecProblem {
  const { namespace, name } = metadata;
  const file = metadata.annotations?.[annotations.source] ?? '';
  return { file, line: 0, column: 0, message, kind, ...(namespace && { namespace }), name };
}
