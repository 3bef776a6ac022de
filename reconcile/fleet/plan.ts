import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import { isFleetKind, runsOnce } from '../../manifests/api/fleet-kinds.ts';
import { annotations } from '../../manifests/render/names.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { sayLeftOut } from '../objects/left-out.ts';
import { askingByUid, asksFourEyes } from './four-eyes.ts';
import { inventoryRoom } from './inventory-room.ts';
import { backupOnMember } from './member-volumes.ts';
import { handedOverTo, handOverAnnotation, isClaimed, keyOf, ownerOf, ownObjects } from './names.ts';
import {
  calledOf,
  type FleetObject,
  identityOf,
  identityOfObject,
  kindOfEntry,
  type OtherObject,
  withKind,
} from './objects.ts';
import { type PrunePlan, planPrune } from './prune.ts';
import type { DesiredSpec, DesiredTree, SpecProblem } from './reading.ts';
import { firstReread } from './rereads.ts';
import type { ShownPlans } from './shown.ts';
import { isAsLeft } from './unchanged.ts';

export interface PlanInput {
  readonly fleet: EtcdFleet;
  /** Every fleet that can be seen, this one included. */
  readonly fleets: readonly EtcdFleet[];
  /** Every cluster that can be seen, listed before the ref was resolved. */
  readonly clusters: readonly EtcdCluster[];
  /** Everything else that can be seen of what fleets apply. */
  readonly others?: readonly OtherObject[];
  /** When only one namespace can be seen: a fleet elsewhere is then unknown, not gone. */
  readonly scope?: string | undefined;
  /** Namespaces of which nothing can be seen now. */
  readonly leftOut?: ReadonlyMap<string, LeftOut>;
  readonly revision: string;
  readonly tree: DesiredTree;
  /** What plans of requests showed. Absent: nothing. */
  readonly shown?: ShownPlans;
}

export type PlannedApply =
  | { readonly kind: 'create'; readonly spec: DesiredSpec }
  /** `adopt`: no owner so far. `takeOver`: its fleet is gone or handed it over. */
  | { readonly kind: 'update' | 'adopt' | 'takeOver'; readonly spec: DesiredSpec; readonly live: FleetObject }
  /** This very revision is on it already. */
  | {
      readonly kind: 'settled';
      readonly spec: DesiredSpec;
      readonly live: FleetObject;
      readonly entry: FleetInventoryEntry;
    };

export interface FleetPlan extends PrunePlan {
  readonly applies: readonly PlannedApply[];
  /** Those of them for which the inventory has room only once everything is pruned that is to be. */
  readonly afterPrune: ReadonlySet<DesiredSpec>;
  /** Documents whose object is still on its way out: applied again once it is gone. */
  readonly leaving: readonly DesiredSpec[];
  /** What ran once and whose object is gone: it is not asked for again while Git lists it. */
  readonly ran: readonly FleetInventoryEntry[];
  readonly problems: readonly SpecProblem[];
}

/** What to apply, to delete, to keep and to complain about. Pure. */
export function planFleet(input: PlanInput): FleetPlan {
  const { fleet, tree } = input;
  const objects = objectsOf(input);
  const own = ownObjects(fleet, objects).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  // A document that can't be used still lists its object.
  const named = new Set([...tree.specs, ...tree.problems].map((one) => identityOf(one.kind, one)));
  const prunePlan = planPrune(
    own.filter((object) => !named.has(identityOfObject(object))),
    input,
  );
  const live = new Map(objects.map((object) => [identityOfObject(object), object]));
  const inventory = new Map((fleet.status?.inventory ?? []).map((one) => [identityOf(kindOfEntry(one), one), one]));
  const owners = new Map(input.fleets.map((one) => [one.metadata.uid ?? '', one]));
  const known = { ...input, live, inventory, owners, strict: strictlyOwned(input) };
  const clusters = clusterNames(input);
  const goes = new Set(prunePlan.prune.map(({ metadata }) => metadata.uid));
  const roomNow = inventoryRoom([...inventory.values()]);
  const roomFor = inventoryRoom([...inventory.values()].filter(({ uid }) => !goes.has(uid)));
  const afterPrune = new Set<DesiredSpec>();
  const judged = tree.specs.map((spec) => {
    const judgement = refuseOnMember(spec, clusters, known) ?? judge(spec, known);
    const { kind, namespace, name, file: source } = spec;
    if (!('apply' in judgement)) return judgement;
    const entry = { ...(kind !== 'EtcdCluster' && { kind }), namespace, name, source };
    const before = inventory.get(identityOf(kind, spec));
    const full = roomFor(entry, before);
    if (full !== undefined) return problem(spec, full);
    if (roomNow(entry, before) !== undefined) afterPrune.add(spec);
    return judgement;
  });
  return {
    ...prunePlan,
    applies: judged.flatMap((one) => ('apply' in one ? [one.apply] : [])),
    afterPrune,
    leaving: judged.flatMap((one) => ('leaving' in one ? [one.leaving] : [])),
    ran: judged.flatMap((one) => ('ran' in one ? [one.ran] : [])),
    problems: [...tree.problems, ...judged.flatMap((one) => ('problem' in one ? [one.problem] : []))],
  };
}

/** A cluster leaves no fleet that asks for four eyes by a label, an annotation and another repository. */
function strictlyOwned({ fleet, fleets }: PlanInput): Known['strict'] {
  return asksFourEyes(fleet) ? new Map() : askingByUid(fleets);
}

/** All that is seen of what fleets apply, each with its kind. */
export function objectsOf({
  clusters,
  others = [],
  leftOut,
}: Pick<PlanInput, 'clusters' | 'others' | 'leftOut'>): readonly FleetObject[] {
  const listed = [...clusters.map((cluster) => withKind('EtcdCluster', cluster)), ...others];
  return leftOut ? listed.filter(({ metadata }) => !leftOut.has(metadata.namespace ?? '')) : listed;
}

type Judgement =
  | { readonly apply: PlannedApply }
  | { readonly leaving: DesiredSpec }
  | { readonly ran: FleetInventoryEntry }
  | { readonly problem: SpecProblem };

interface Known extends PlanInput {
  readonly live: ReadonlyMap<string, FleetObject>;
  readonly inventory: ReadonlyMap<string, FleetInventoryEntry>;
  /** By UID. */
  readonly owners: ReadonlyMap<string, EtcdFleet>;
  /** By UID of what fleets applied that ask for four eyes, where this one does not. */
  readonly strict: ReadonlyMap<string, readonly EtcdFleet[]>;
}

/** By namespace: those that are there, and those of the tree. */
function clusterNames({ tree, clusters }: PlanInput): ReadonlyMap<string, readonly string[]> {
  const listed = tree.specs.filter(({ kind }) => kind === 'EtcdCluster');
  const all = [...listed, ...clusters.map(({ metadata: { name, namespace = '' } }) => ({ name, namespace }))];
  const groups = Map.groupBy(all, ({ namespace }) => namespace);
  return new Map([...groups].map(([namespace, some]) => [namespace, some.map(({ name }) => name)]));
}

/** Before anything of it is applied: a Job would mount the volume of a member. What is done once is done already. */
function refuseOnMember(
  spec: DesiredSpec,
  clusters: ReadonlyMap<string, readonly string[]>,
  { live }: Pick<Known, 'live'>,
): Judgement | undefined {
  const isThere = live.has(identityOf(spec.kind, spec));
  const wrong = backupOnMember(spec, clusters.get(spec.namespace) ?? [], isThere);
  return wrong && { problem: { ...problemAt(spec, wrong.message), ...spec.locate?.(wrong.path, 'value') } };
}

function judge(spec: DesiredSpec, input: Known): Judgement {
  const { fleet } = input;
  if (!isFleetKind(spec.kind)) {
    return problem(spec, `${spec.kind} ${spec.name} is not applied from Git: apply it with kubectl`);
  }
  const why = input.leftOut?.get(spec.namespace);
  if (why) return problem(spec, `${calledOf(spec.kind, spec)} is not applied now: ${sayLeftOut(spec.namespace, why)}`);
  const identity = identityOf(spec.kind, spec);
  const live = input.live.get(identity);
  const entry = input.inventory.get(identity);
  const isGone = live === undefined || live.metadata.deletionTimestamp !== undefined;
  if (isGone && entry && runsOnce(spec.kind)) return { ran: entry };
  if (!live) return { apply: { kind: 'create', spec } };
  if (live.metadata.deletionTimestamp !== undefined) return { leaving: spec };
  const reread = firstReread(spec, live);
  if (reread) return { problem: { ...problemAt(spec, reread.message), ...reread.place } };

  const owner = ownerOf(live);
  const [strict] = isClaimed(fleet, live) ? [] : (input.strict.get(live.metadata.uid ?? '') ?? []);
  if (strict !== undefined) {
    return problem(
      spec,
      `${calledOf(spec.kind, spec)} was applied by fleet ${keyOf(strict)}, which asks for four eyes, and this one does not: ask for them here as well (spec.approvals.notByAuthor), or take them back there first`,
    );
  }
  if (owner === undefined) return { apply: { kind: 'adopt', spec, live } };
  if (isClaimed(fleet, live)) {
    const settled = settledEntry(input, spec, live, entry);
    return { apply: settled ? { kind: 'settled', spec, live, entry: settled } : { kind: 'update', spec, live } };
  }
  if (owner === fleet.metadata.uid) {
    return problem(
      spec,
      `${calledOf(spec.kind, spec)} was handed over to fleet ${handedOverTo(live)}: remove it from this fleet's files, or remove its annotation ${handOverAnnotation}`,
    );
  }
  if (handedOverTo(live) === keyOf(fleet) || isOwnerGone(owner, live, input))
    return { apply: { kind: 'takeOver', spec, live } };
  return problem(
    spec,
    `${calledOf(spec.kind, spec)} belongs to fleet ${ownerName(owner, live, input)}: remove it from one of the two; to move it here, annotate it with ${handOverAnnotation}=${keyOf(fleet)}`,
  );
}

/** In the inventory since this revision was attempted, and untouched since; unless a person asked to apply it again. */
function settledEntry(
  { fleet, revision }: Known,
  spec: DesiredSpec,
  live: FleetObject,
  entry: FleetInventoryEntry | undefined,
): FleetInventoryEntry | undefined {
  if (fleet.status?.revision?.attempted !== revision || wantsReconcile(fleet)) return undefined;
  return entry && isAsLeft(entry, live) && entry.source === spec.file ? entry : undefined;
}

/** An owner in a namespace that this invocation can't see is not known to be gone. */
function isOwnerGone(owner: string, live: FleetObject, { owners, scope, leftOut }: Known): boolean {
  if (owners.has(owner)) return false;
  const namespace = live.metadata.annotations?.[annotations.fleetName]?.split('/')[0];
  if (namespace !== undefined && leftOut?.has(namespace)) return false;
  return scope === undefined || namespace === scope;
}

function ownerName(owner: string, live: FleetObject, { owners }: Known): string {
  const fleet = owners.get(owner);
  return fleet ? keyOf(fleet) : (live.metadata.annotations?.[annotations.fleetName] ?? `with UID ${owner}`);
}

function problem(spec: DesiredSpec, message: string): Judgement {
  return { problem: problemAt(spec, message) };
}

/** A problem at the place where the document begins. */
export function problemAt({ file, line, column, kind, namespace, name }: DesiredSpec, message: string): SpecProblem {
  return { file, line, column, message, kind, namespace, name };
}
