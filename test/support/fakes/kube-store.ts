import type { Target } from '../../../reconcile/clients/kube-address.ts';
import { refusal } from '../../../reconcile/clients/kube-errors.ts';
import { type KubeObject, type Preconditions, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { takeDisruption } from './kube-budgets.ts';
import { applyFields, type Owners, ownersAfterUpdate } from './kube-fields.ts';
import { checkImmutable, checkPreconditions, conflict, newborn, nextGeneration, settled } from './kube-rules.ts';
import { createShelf, type Fields, frozenCopy, type Shelf, type Stored } from './kube-shelf.ts';

export type Store = ReturnType<typeof createStore>;

/** Of the store that this one goes on from. */
interface Past {
  readonly shelf: Shelf;
  readonly owners: ReadonlyMap<string, Owners>;
}

/** The writes of an API server, on a shelf in memory. What comes out is frozen. */
export function createStore({ clock, fieldManager }: { clock: () => Date; fieldManager: string }, past?: Past) {
  const shelf = past?.shelf.fork(clock) ?? createShelf(clock);
  const owners = new Map(past?.owners);

  return {
    shelf,
    owners: owners as ReadonlyMap<string, Owners>,
    get: shelf.get,
    create,
    update,
    tryOut,
    apply,
    delete: remove,
    evict,
    seed,
    collectGarbage,
  };

  function seed(resource: Resource, object: KubeObject): void {
    const { apiVersion, kind } = resource;
    const uid = shelf.get({ resource, ...object.metadata })?.metadata.uid ?? shelf.newUid();
    shelf.put(resource, {
      apiVersion,
      kind,
      ...object,
      metadata: { uid, creationTimestamp: shelf.timestamp(), ...object.metadata },
    });
  }

  function create<T extends KubeObject>(
    target: Target,
    object: T,
    how: { applies?: string; dryRun?: boolean } = {},
  ): T {
    const { resource } = target;
    const { name, resourceVersion } = object.metadata;
    if (resourceVersion) {
      throw refusal(target, { code: 400, reason: 'BadRequest', message: 'a new object has no resourceVersion yet' });
    }
    if (shelf.get({ resource, ...object.metadata }) !== undefined) {
      throw refusal(target, {
        code: 409,
        reason: 'AlreadyExists',
        message: `${resource.plural} "${name}" already exists`,
        name,
      });
    }
    const fresh = newborn(resource, object, { uid: shelf.newUid(), creationTimestamp: shelf.timestamp() });
    if (how.dryRun === true) return answer(fresh);
    const stored = shelf.put(resource, fresh);
    const everything = ownersAfterUpdate({}, stored, 'x', new Map()).get('x Update') ?? new Set<string>();
    const manager = how.applies === undefined ? `${fieldManager} Update` : `${how.applies} Apply`;
    return answer(owned(stored, new Map([[manager, everything]])));
  }

  function update<T extends KubeObject>(target: Target, object: T): T {
    const { resource } = target;
    const current = existing(target);
    checkPreconditions(target, current, object.metadata);
    if (target.subresource === 'status') {
      const { status } = object as unknown as Fields;
      const { status: _before, ...rest } = current;
      const next = { ...rest, ...(status === undefined ? {} : { status }) } as Stored;
      return answer(shelf.put(resource, next));
    }
    const next = settled(resource, current, object as unknown as Fields);
    checkImmutable(target, current, next);
    if (current.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      shelf.drop(target);
      return answer(next);
    }
    const now = ownersAfterUpdate(current, next, fieldManager, ownersOf(current));
    return answer(owned(shelf.put(resource, next), now));
  }

  function tryOut<T extends KubeObject>(target: Target, object: T): T {
    if (target.verb === 'POST') return create(target, object, { dryRun: true });
    const current = existing(target);
    checkPreconditions(target, current, object.metadata);
    const next = settled(target.resource, current, object as unknown as Fields);
    checkImmutable(target, current, next);
    return answer(next);
  }

  function apply<T extends KubeObject>(target: Target, object: T, manager: string, dryRun: boolean | 'Forced'): T {
    const { resource } = target;
    const current = shelf.get(target);
    if (current === undefined) {
      const { resourceVersion, uid } = object.metadata;
      if (resourceVersion || uid) throw conflict(target, 'the object that this was based on is gone');
      return create(target, object, { applies: manager, dryRun: dryRun !== false });
    }
    checkPreconditions(target, current, object.metadata);
    const owners = dryRun === 'Forced' ? new Map() : ownersOf(current);
    const merged = applyFields(current, object as unknown as Fields, manager, owners);
    if (merged.kind === 'conflict') throw conflict(target, `conflict with "${merged.manager}": .${merged.field}`);
    const next = settled(resource, current, merged.object);
    checkImmutable(target, current, next);
    return answer(dryRun ? next : owned(shelf.put(resource, next), merged.owners));
  }

  function remove(target: Target, preconditions: Preconditions): void {
    const { resource } = target;
    const current = shelf.get(target);
    if (current === undefined) return;
    checkPreconditions(target, current, preconditions);
    const { finalizers = [], deletionTimestamp } = current.metadata;
    if (finalizers.length === 0) shelf.drop(target);
    else if (deletionTimestamp === undefined) {
      const leaving = { ...current, metadata: { ...current.metadata, deletionTimestamp: shelf.timestamp() } };
      shelf.put(resource, nextGeneration(resource, leaving));
    }
  }

  function evict(target: Target, preconditions: Preconditions): void {
    const pod = shelf.get(target);
    if (pod === undefined) return;
    checkPreconditions(target, pod, preconditions);
    takeDisruption(target, pod, shelf);
    remove(target, preconditions);
  }

  function collectGarbage(): void {
    const everything = shelf.everything();
    const alive = new Set(everything.map(({ metadata }) => metadata.uid));
    const orphans = everything.filter(({ metadata: { ownerReferences = [] } }) => {
      return ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !alive.has(uid));
    });
    for (const { kind, metadata } of orphans) {
      const resource = Object.values(resources).find((each) => each.kind === kind);
      if (resource === undefined) throw new Error(`the garbage collector does not know ${kind}`);
      shelf.drop({ resource, ...metadata });
    }
    if (orphans.length > 0) collectGarbage();
  }

  function existing(target: Target): Stored {
    const current = shelf.get(target);
    if (current !== undefined) return current;
    const { resource, name } = target;
    throw refusal(target, { code: 404, reason: 'NotFound', message: `${resource.plural} "${name}" not found`, name });
  }

  function owned(object: Stored, by: Owners): Stored {
    owners.set(object.metadata.uid, by);
    return object;
  }

  function ownersOf(object: Stored): Owners {
    return owners.get(object.metadata.uid) ?? new Map();
  }
}

function answer<T extends KubeObject>(object: KubeObject): T {
  return (Object.isFrozen(object) ? object : frozenCopy(object)) as T;
}
