import type { FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import { annotations } from '../../manifests/render/names.ts';
import type { ApplyOutcome } from './apply.ts';
import { handedOverTo, ownObjects } from './names.ts';
import { type FleetObject, identityOf, kindOfEntry } from './objects.ts';
import { type FleetPlan, objectsOf, type PlanInput } from './plan.ts';
import { type Unlisted, wasShownToStay } from './prune.ts';
import type { DesiredTree } from './reading.ts';

type Seen = Omit<PlanInput, 'revision' | 'tree'>;

interface Applied {
  readonly done: readonly Extract<ApplyOutcome, { kind: 'applied' }>[];
  /** UIDs of what was deleted. */
  readonly gone: ReadonlySet<string | undefined>;
}

export interface InventoryAfter {
  readonly inventory: readonly FleetInventoryEntry[];
  /** Of it, what Git no longer lists, and no plan to delete knows of: it can't be seen, or bears another label. */
  readonly unlisted: readonly { readonly key: string; readonly because: Unlisted['because'] }[];
}

/**
 * The inventory once the plan is carried out: what the apply left, and what is owned but was not applied, at generation
 * 0 if that is for want of success. Pure.
 */
export function inventoryAfter(seen: Seen, tree: DesiredTree, plan: FleetPlan, applied: Applied): InventoryAfter {
  const before = seen.fleet.status?.inventory ?? [];
  const unseen = before.filter(({ namespace }) => seen.leftOut?.has(namespace));
  const strayed = strayedFrom(seen);
  const named = new Set(tree.specs.map((one) => identityOf(one.kind, one)));
  const keyOf = (entry: FleetInventoryEntry) => identityOf(kindOfEntry(entry), entry);
  const handedOver = new Set(objectsOf(seen).flatMap((object) => (handedOverTo(object) ? [object.metadata.uid] : [])));
  return {
    inventory: inventoryOf(seen, plan, applied, [...unseen, ...strayed.map((entry) => ({ ...entry, generation: 0 }))]),
    unlisted: [
      ...unseen.map((entry) => ({ key: keyOf(entry), because: 'NamespaceLeftOut' as const })),
      ...strayed
        .filter(({ uid }) => !handedOver.has(uid))
        .map((entry) => ({ key: keyOf(entry), because: 'LabelChanged' as const })),
    ].filter(({ key }) => !named.has(key)),
  };
}

/**
 * Entries whose objects live and are not the fleet's by their labels, nor any other fleet's by its inventory. They
 * stay in this one (four eyes): any editor may change a label, and would be rid of what the fleet demands.
 */
function strayedFrom(seen: Seen): readonly FleetInventoryEntry[] {
  const { fleet, fleets } = seen;
  const objects = objectsOf(seen);
  const own = new Set(ownObjects(fleet, objects).map(({ metadata }) => metadata.uid));
  const live = new Set(objects.map(({ metadata }) => metadata.uid));
  const others = fleets.filter(({ metadata }) => metadata.uid !== fleet.metadata.uid);
  const theirs = new Set(others.flatMap(({ status }) => status?.inventory ?? []).map(({ uid }) => uid));
  return (fleet.status?.inventory ?? []).filter(({ uid }) => live.has(uid) && !own.has(uid) && !theirs.has(uid));
}

/** @param rest of before, neither applied nor known to be gone: out of the inventory, they would never be pruned */
function inventoryOf(
  seen: Seen,
  { keep, ran }: FleetPlan,
  { done, gone }: Applied,
  rest: readonly FleetInventoryEntry[],
): readonly FleetInventoryEntry[] {
  const { fleet } = seen;
  const fresh = done.map(({ spec, object }) =>
    entryOf(withKindOf(spec, object), spec.file, object.metadata.generation ?? 0),
  );
  const applied = new Set([...fresh, ...ran].map(({ uid }) => uid));
  const others = ownObjects(fleet, objectsOf(seen)).filter(
    ({ metadata }) => !applied.has(metadata.uid ?? '') && !gone.has(metadata.uid),
  );
  const before = new Map((fleet.status?.inventory ?? []).map((entry) => [entry.uid, entry]));
  const unlisted = new Set(keep.map(({ object }) => object.metadata.uid));
  const kept = others.map((object) => {
    const { uid = '', generation = 0, annotations: marks } = object.metadata;
    const source = before.get(uid)?.source ?? marks?.[annotations.source] ?? '';
    if (!unlisted.has(uid)) return entryOf(object, source, 0);
    const entry = entryOf(object, source, generation);
    return wasShownToStay(object, { ...seen, inventory: before }) ? { ...entry, shownToStay: true } : entry;
  });
  const order = ({ kind = '', namespace, name }: FleetInventoryEntry) => `${namespace}/${name} ${kind}`;
  const known = new Set([...fresh, ...kept, ...ran].map(({ uid }) => uid));
  const unknown = rest.filter(({ uid }) => !known.has(uid));
  return [...fresh, ...kept, ...ran, ...unknown].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** What a write answers with has its kind; a fake or a proxy may leave it out. */
function withKindOf({ kind }: FleetPlan['applies'][number]['spec'], object: FleetObject): FleetObject {
  return { ...object, kind } as FleetObject;
}

function entryOf({ kind, metadata }: FleetObject, source: string, generation: number): FleetInventoryEntry {
  const { namespace = '', name, uid = '' } = metadata;
  return { ...(kind !== 'EtcdCluster' && { kind }), namespace, name, uid, generation, source };
}
