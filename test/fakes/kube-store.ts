import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../../reconcile/clients/kube-address.ts';
import { refusal } from '../../reconcile/clients/kube-errors.ts';
import { type KubeObject, type Preconditions, type Resource, resources } from '../../reconcile/kube.ts';
import { applyFields, type Owners, ownersAfterUpdate } from './kube-fields.ts';
import { matchesLabels } from './kube-selectors.ts';

/** What is stored: at least this. */
type Stored = KubeObject &
  Record<string, unknown> & { readonly metadata: { readonly uid: string; readonly resourceVersion: string } };
type Fields = Record<string, unknown>;

export interface Change {
  readonly resourceVersion: number;
  readonly resource: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

export type Store = ReturnType<typeof createStore>;

const withoutStatus = new Set(['configmaps', 'secrets', 'events']);
// The API server numbers the generations of these kinds only.
const withoutGeneration = new Set(['configmaps', 'secrets', 'events', 'services', 'persistentvolumeclaims']);

export function createStore({ clock, fieldManager }: { clock: () => Date; fieldManager: string }) {
  const objects = new Map<string, Stored>();
  const owners = new Map<string, Owners>();
  const changes: Change[] = [];
  const waiting = new Set<() => void>();
  let counter = 100;
  let compactedTo = 0;
  let uids = 0;

  return {
    all,
    get: (resource: Resource, namespace: string | undefined, name: string) =>
      copy(objects.get(keyOf(resource, namespace, name))),
    create,
    update,
    apply,
    delete: remove,
    evict,
    seed,
    remove: (resource: Resource, namespace: string | undefined, name: string) =>
      drop(keyOf(resource, namespace, name), resource),
    counter: () => counter,
    resourceVersion: () => String(counter),
    compact: () => {
      compactedTo = counter;
      changes.length = 0;
    },
    assertNotCompacted: (target: Target, from: number) => {
      if (from < compactedTo)
        throw refusal(target, { code: 410, reason: 'Expired', message: 'too old resource version' });
    },
    changesAfter: (seen: number, resource: Resource) =>
      changes.filter((change) => change.resourceVersion > seen && change.resource === idOf(resource)),
    nextChange,
    collectGarbage,
  };

  function all(resource: Resource): Stored[] {
    const prefix = `${idOf(resource)} `;
    return [...objects]
      .filter(([key]) => key.startsWith(prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => structuredClone(object));
  }

  function seed(resource: Resource, object: KubeObject): void {
    const existing = objects.get(keyOf(resource, object.metadata.namespace, object.metadata.name));
    const metadata = { uid: existing?.metadata.uid ?? newUid(), creationTimestamp: timestamp(), ...object.metadata };
    save(resource, existing, { apiVersion: resource.apiVersion, kind: resource.kind, ...object, metadata });
  }

  function create<T extends KubeObject>(target: Target, object: T, manager?: { applies: string }): T {
    const { resource } = target;
    const { namespace, name, resourceVersion } = object.metadata;
    if (resourceVersion)
      throw refusal(target, {
        code: 400,
        reason: 'BadRequest',
        message: 'resourceVersion should not be set on objects to be created',
      });
    if (objects.has(keyOf(resource, namespace, name))) {
      throw refusal(target, {
        code: 409,
        reason: 'AlreadyExists',
        message: `${resource.plural} "${name}" already exists`,
        name,
      });
    }
    const metadata = {
      ...object.metadata,
      uid: newUid(),
      creationTimestamp: timestamp(),
      ...(withoutGeneration.has(resource.plural) ? {} : { generation: 1 }),
    };
    const { status, ...rest } = object as unknown as Fields;
    const initial = withoutStatus.has(resource.plural)
      ? status === undefined
        ? {}
        : { status }
      : initialStatus(resource);
    const created = save(resource, undefined, {
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      ...rest,
      ...initial,
      metadata,
    });
    const mine = manager === undefined ? `${fieldManager} Update` : `${manager.applies} Apply`;
    const fresh = ownersAfterUpdate({}, created as Fields, '', new Map()).get(' Update') ?? new Set<string>();
    owners.set(created.metadata.uid, new Map([[mine, fresh]]));
    return copy(created) as T;
  }

  function update<T extends KubeObject>(target: Target, object: T): T {
    const { resource, namespace, name = '' } = target;
    const current = existing(target);
    check(target, current, object.metadata);
    if (target.subresource === 'status') {
      const { status } = object as Fields;
      const { status: _old, ...rest } = current;
      return copy(
        save(resource, current, { ...(rest as unknown as Stored), ...(status === undefined ? {} : { status }) }),
      ) as T;
    }
    const next = settled(resource, current, object as Fields);
    if (isFrozen(current) && !isDeepStrictEqual(frozenPart(current), frozenPart(next))) {
      throw refusal(target, { code: 422, reason: 'Invalid', message: `${resource.kind} "${name}" is immutable`, name });
    }
    owners.set(
      current.metadata.uid,
      ownersAfterUpdate(current as Fields, next as Fields, fieldManager, owners.get(current.metadata.uid) ?? new Map()),
    );
    if (current.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      drop(keyOf(resource, namespace, name), resource);
      return copy(next) as T;
    }
    return copy(save(resource, current, next)) as T;
  }

  function apply<T extends KubeObject>(target: Target, object: T, manager: string, dryRun: boolean): T {
    const { resource, namespace, name = '' } = target;
    const current = objects.get(keyOf(resource, namespace, name));
    if (current === undefined) {
      if (object.metadata.resourceVersion || object.metadata.uid) {
        throw refusal(target, {
          code: 409,
          reason: 'Conflict',
          message: 'the object that this was based on is gone',
          name,
        });
      }
      return dryRun ? dryCreated(target, object, manager) : create(target, object, { applies: manager });
    }
    check(target, current, object.metadata);
    const merged = applyFields(
      current as Fields,
      object as Fields,
      manager,
      owners.get(current.metadata.uid) ?? new Map(),
    );
    if (merged.kind === 'conflict') {
      throw refusal(target, {
        code: 409,
        reason: 'Conflict',
        message: `conflict with "${merged.manager}": .${merged.field}`,
        name,
      });
    }
    const next = settled(resource, current, merged.object);
    if (dryRun) return copy(next) as T;
    owners.set(current.metadata.uid, merged.owners);
    return copy(save(resource, current, next)) as T;
  }

  function dryCreated<T extends KubeObject>(target: Target, object: T, manager: string): T {
    const before = counter;
    const created = create(target, object, { applies: manager });
    objects.delete(keyOf(target.resource, target.namespace, object.metadata.name));
    changes.splice(changes.findIndex(({ resourceVersion }) => resourceVersion > before));
    counter = before;
    return created;
  }

  function remove(target: Target, preconditions: Preconditions): void {
    const { resource, namespace, name = '' } = target;
    const current = objects.get(keyOf(resource, namespace, name));
    if (current === undefined) return;
    check(target, current, preconditions);
    if ((current.metadata.finalizers ?? []).length === 0) {
      drop(keyOf(resource, namespace, name), resource);
      return;
    }
    if (current.metadata.deletionTimestamp !== undefined) return;
    save(
      resource,
      current,
      bumped(resource, { ...current, metadata: { ...current.metadata, deletionTimestamp: timestamp() } }),
    );
  }

  function evict(target: Target, preconditions: Preconditions): void {
    const { namespace, name = '' } = target;
    const pod = objects.get(keyOf(resources.pods, namespace, name));
    if (pod === undefined) return;
    check(target, pod, preconditions);
    const { phase } = (Reflect.get(pod, 'status') ?? {}) as { phase?: string };
    const ignoresBudgets =
      pod.metadata.deletionTimestamp !== undefined || ['Pending', 'Succeeded', 'Failed'].includes(phase ?? '');
    for (const budget of ignoresBudgets ? [] : budgetsOf(pod)) {
      const status = (Reflect.get(budget, 'status') ?? {}) as { disruptionsAllowed?: number };
      const left = (status.disruptionsAllowed ?? 0) - 1;
      if (left < 0) {
        throw refusal(target, {
          code: 429,
          reason: 'TooManyRequests',
          message: `Cannot evict pod as it would violate the disruption budget ${budget.metadata.name}`,
          name,
        });
      }
      save(resources.disruptionBudgets, budget, {
        ...budget,
        status: { ...status, disruptionsAllowed: left },
      } as Stored);
    }
    remove({ ...target, verb: 'DELETE' }, preconditions);
  }

  function budgetsOf(pod: KubeObject): Stored[] {
    return [...objects.values()].filter((object) => {
      if (object.kind !== 'PodDisruptionBudget' || object.metadata.namespace !== pod.metadata.namespace) return false;
      const { selector } = (Reflect.get(object, 'spec') ?? {}) as {
        selector?: { matchLabels?: Record<string, string> };
      };
      const terms = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
      return matchesLabels(pod, terms.join(','));
    });
  }

  function collectGarbage(): void {
    const alive = new Set([...objects.values()].map(({ metadata }) => metadata.uid));
    const orphans = [...objects].filter(([, { metadata }]) => {
      const references = metadata.ownerReferences ?? [];
      return references.length > 0 && references.every(({ uid }) => !alive.has(uid));
    });
    for (const [key, object] of orphans) {
      const resource = Object.values(resources).find(({ kind }) => kind === object.kind);
      if (resource !== undefined) drop(key, resource);
    }
    if (orphans.length > 0) collectGarbage();
  }

  function existing(target: Target): Stored {
    const { resource, namespace, name = '' } = target;
    const current = objects.get(keyOf(resource, namespace, name));
    if (current !== undefined) return current;
    throw refusal(target, { code: 404, reason: 'NotFound', message: `${resource.plural} "${name}" not found`, name });
  }

  function check(target: Target, current: Stored, { uid, resourceVersion }: Preconditions): void {
    const { metadata } = current;
    const conflict = (message: string) =>
      refusal(target, { code: 409, reason: 'Conflict', message, name: metadata.name });
    if (uid !== undefined && uid !== metadata.uid)
      throw conflict(`UID in precondition is ${uid}, of the object ${metadata.uid}`);
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
      throw conflict(`the object has been modified: at ${metadata.resourceVersion}, not ${resourceVersion}`);
    }
  }

  /** What a write to the main resource leaves: the server's metadata and the status stay, the generation counts. */
  function settled(resource: Resource, current: Stored, sent: Fields): Stored {
    const { uid, resourceVersion, creationTimestamp, deletionTimestamp, generation } = current.metadata;
    const kept = Object.fromEntries(
      Object.entries({ uid, resourceVersion, creationTimestamp, deletionTimestamp, generation }).filter(
        ([, value]) => value !== undefined,
      ),
    );
    const { status: sentStatus, ...rest } = sent;
    const status = withoutStatus.has(resource.plural) ? sentStatus : Reflect.get(current, 'status');
    const next = {
      ...rest,
      apiVersion: current.apiVersion,
      kind: current.kind,
      ...(status === undefined ? {} : { status }),
      metadata: { ...(sent.metadata as KubeObject['metadata']), ...kept },
    } as unknown as Stored;
    return isDeepStrictEqual(specPart(current), specPart(next)) ? next : bumped(resource, next);
  }

  function bumped(resource: Resource, object: Stored): Stored {
    if (withoutGeneration.has(resource.plural)) return object;
    return { ...object, metadata: { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 } };
  }

  function save(resource: Resource, before: Stored | undefined, after: KubeObject): Stored {
    if (before !== undefined && isDeepStrictEqual(before, after)) return before;
    counter += 1;
    const uid = after.metadata.uid ?? newUid();
    const stored = structuredClone({
      ...after,
      metadata: { ...after.metadata, uid, resourceVersion: String(counter) },
    });
    objects.set(keyOf(resource, stored.metadata.namespace, stored.metadata.name), stored);
    record({ resourceVersion: counter, resource: idOf(resource), before, after: stored });
    return stored;
  }

  function drop(key: string, resource: Resource): void {
    const before = objects.get(key);
    if (before === undefined) return;
    counter += 1;
    objects.delete(key);
    owners.delete(before.metadata.uid);
    record({ resourceVersion: counter, resource: idOf(resource), before, after: undefined });
  }

  function record(change: Change): void {
    changes.push(change);
    for (const wake of [...waiting]) wake();
  }

  /** At once if there was one after `seen` already, else when the next is made or the signal aborts. */
  function nextChange(seen: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake);
      if (signal.aborted || counter > seen) wake();
    });
  }

  function newUid(): string {
    uids += 1;
    return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`;
  }

  function timestamp(): string {
    return clock()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }
}

function initialStatus({ plural }: Resource): { status?: Fields } {
  return plural === 'pods' || plural === 'persistentvolumeclaims' ? { status: { phase: 'Pending' } } : {};
}

function isFrozen(object: KubeObject): boolean {
  return Reflect.get(object, 'immutable') === true;
}

function frozenPart(object: KubeObject): unknown {
  return ['immutable', 'data', 'binaryData', 'stringData'].map((field) => Reflect.get(object, field));
}

function specPart(object: Fields): unknown {
  const { metadata: _metadata, status: _status, ...spec } = object as Fields;
  return spec;
}

function idOf({ apiVersion, plural }: Resource): string {
  return `${apiVersion}/${plural}`;
}

function keyOf(resource: Resource, namespace: string | undefined, name: string): string {
  return `${idOf(resource)} ${namespace ?? ''}/${name}`;
}

function copy<T>(object: T): T {
  return structuredClone(object);
}
