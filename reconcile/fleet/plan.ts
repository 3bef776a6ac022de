import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet, FleetInventoryEntry } from '../../manifests/api/etcd-fleet.ts';
import { annotations } from '../../manifests/render/names.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import { handedOverTo, handOverAnnotation, isOwn, keyOf, ownClusters, ownerOf } from './names.ts';
import { type PrunePlan, planPrune } from './prune.ts';
import type { DesiredSpec, DesiredTree, SpecProblem } from './reading.ts';
import { isAsLeft } from './unchanged.ts';

export interface PlanInput {
  readonly fleet: EtcdFleet;
  /** Every fleet that can be seen, this one included. */
  readonly fleets: readonly EtcdFleet[];
  /** Every cluster that can be seen, listed before the ref was resolved. */
  readonly clusters: readonly EtcdCluster[];
  /** When only one namespace can be seen: a fleet elsewhere is then unknown, not gone. */
  readonly scope?: string | undefined;
  readonly revision: string;
  readonly tree: DesiredTree;
}

export type PlannedApply =
  | { readonly kind: 'create'; readonly spec: DesiredSpec }
  /** `adopt`: no owner so far. `takeOver`: its fleet is gone or handed it over. */
  | { readonly kind: 'update' | 'adopt' | 'takeOver'; readonly spec: DesiredSpec; readonly live: EtcdCluster }
  /** This very revision is on it already. */
  | {
      readonly kind: 'settled';
      readonly spec: DesiredSpec;
      readonly live: EtcdCluster;
      readonly entry: FleetInventoryEntry;
    };

export interface FleetPlan extends PrunePlan {
  readonly applies: readonly PlannedApply[];
  /** Documents whose object is still on its way out: applied again once it is gone. */
  readonly leaving: readonly DesiredSpec[];
  readonly problems: readonly SpecProblem[];
}

/** What to apply, to delete, to keep and to complain about. Pure. */
export function planFleet(input: PlanInput): FleetPlan {
  const { fleet, clusters, tree } = input;
  const own = ownClusters(fleet, clusters).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  // A document that can't be used still lists its cluster.
  const named = new Set([...tree.specs, ...tree.problems].map(({ namespace, name }) => `${namespace}/${name}`));
  const prunePlan = planPrune(
    own.filter((cluster) => !named.has(keyOf(cluster))),
    input,
  );
  const judged = tree.specs.map((spec) => judge(spec, input));
  return {
    ...prunePlan,
    applies: judged.flatMap((one) => ('apply' in one ? [one.apply] : [])),
    leaving: judged.flatMap((one) => ('leaving' in one ? [one.leaving] : [])),
    problems: [...tree.problems, ...judged.flatMap((one) => ('problem' in one ? [one.problem] : []))],
  };
}

type Judgement =
  | { readonly apply: PlannedApply }
  | { readonly leaving: DesiredSpec }
  | { readonly problem: SpecProblem };

function judge(spec: DesiredSpec, input: PlanInput): Judgement {
  const { fleet, clusters, revision } = input;
  if (spec.kind !== 'EtcdCluster') {
    return problem(
      spec,
      `${spec.kind} ${spec.name} is not applied from Git: only EtcdCluster is; apply it with kubectl`,
    );
  }
  const live = clusters.find((cluster) => keyOf(cluster) === `${spec.namespace}/${spec.name}`);
  if (!live) return { apply: { kind: 'create', spec } };
  if (live.metadata.deletionTimestamp !== undefined) return { leaving: spec };

  const owner = ownerOf(live);
  if (owner === undefined) return { apply: { kind: 'adopt', spec, live } };
  if (isOwn(fleet, live)) {
    const entry = settledEntry(fleet, revision, spec, live);
    return { apply: entry ? { kind: 'settled', spec, live, entry } : { kind: 'update', spec, live } };
  }
  if (owner === fleet.metadata.uid) {
    return problem(
      spec,
      `EtcdCluster ${keyOf(live)} was handed over to fleet ${handedOverTo(live)}: remove it from this fleet's files, or remove its annotation ${handOverAnnotation}`,
    );
  }
  if (handedOverTo(live) === keyOf(fleet) || isGone(owner, live, input))
    return { apply: { kind: 'takeOver', spec, live } };
  return problem(
    spec,
    `EtcdCluster ${keyOf(live)} belongs to fleet ${ownerName(owner, live, input)}: remove it from one of the two; to move it here, annotate it with ${handOverAnnotation}=${keyOf(fleet)}`,
  );
}

/** In the inventory since this revision was attempted, and untouched since; unless a person asked to apply it again. */
function settledEntry(
  fleet: EtcdFleet,
  revision: string,
  spec: DesiredSpec,
  live: EtcdCluster,
): FleetInventoryEntry | undefined {
  const { status } = fleet;
  if (status?.revision?.attempted !== revision || wantsReconcile(fleet)) return undefined;
  return status.inventory?.find((entry) => isAsLeft(entry, live) && entry.source === spec.file);
}

/** An owner in a namespace that this invocation can't see is not known to be gone. */
function isGone(owner: string, live: EtcdCluster, { fleets, scope }: PlanInput): boolean {
  if (fleets.some(({ metadata }) => metadata.uid === owner)) return false;
  const namespace = live.metadata.annotations?.[annotations.fleetName]?.split('/')[0];
  return scope === undefined || namespace === scope;
}

function ownerName(owner: string, live: EtcdCluster, { fleets }: PlanInput): string {
  const fleet = fleets.find(({ metadata }) => metadata.uid === owner);
  return fleet ? keyOf(fleet) : (live.metadata.annotations?.[annotations.fleetName] ?? `with UID ${owner}`);
}

function problem(spec: DesiredSpec, message: string): Judgement {
  return { problem: problemAt(spec, message) };
}

/** A problem at the place where the document begins. */
export function problemAt({ file, line, column, kind, namespace, name }: DesiredSpec, message: string): SpecProblem {
  return { file, line, column, message, kind, namespace, name };
}
