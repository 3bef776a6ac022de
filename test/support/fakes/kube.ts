/**
 * An API server in memory, for unit tests: `createFakeKube()` is a `Kube` with the fences that this project leans on
 * (resourceVersion, UID, AlreadyExists, generation, the status subresource, field ownership, finalizers, evictions).
 *
 * `test/integration/clients/kube-contract.test.ts` holds it to what a real API server does. It does not validate,
 * default or run controllers: nothing is garbage-collected unless a test asks for it.
 */

import { countKey, pathOf, serviceAccountUser, type Target } from '../../../reconcile/clients/kube-address.ts';
import { failure, refusal } from '../../../reconcile/clients/kube-errors.ts';
import { keptOf } from '../../../reconcile/clients/kube-list.ts';
import type {
  CallOptions,
  Kube,
  KubeObject,
  LeftOut,
  Resource,
  WatchEvent,
} from '../../../reconcile/interfaces/kube.ts';
import { matchesFields, matchesLabels } from './kube-selectors.ts';
import { frozenCopy } from './kube-shelf.ts';
import { createStore, type Store } from './kube-store.ts';
import { noteUsedRights } from './used-rights.ts';

export interface FakeRequest extends Target {
  /** `PUT etcdclusters/status` */
  readonly key: string;
  /** The user that is impersonated; `undefined`: none. */
  readonly user: string | undefined;
  readonly dryRun: boolean;
  /** What was sent, of a write. */
  readonly body?: KubeObject | undefined;
}

export interface FakeKubeOptions {
  /** The API server's clock. Default: the real one. */
  readonly clock?: () => Date;
  /** Runs before a request has any effect; what it throws is what the caller gets. */
  readonly before?: (request: FakeRequest) => void | Promise<void>;
  /** Runs after the effect and before the answer: a throw is an answer that got lost. */
  readonly after?: (request: FakeRequest) => void | Promise<void>;
  /** RBAC: `false` is 403 Forbidden. Default: everything is allowed. */
  readonly authorize?: (request: FakeRequest) => boolean;
  /** `false`: the resource is not installed, and every request for it is a 404. */
  readonly serves?: (resource: Resource) => boolean;
  /** Namespaces that lists over all leave out. */
  readonly leftOut?: () => ReadonlyMap<string, LeftOut>;
  /** Field manager of what is created or updated without apply. */
  readonly fieldManager?: string;
}

export interface FakeKube extends Kube {
  /** Puts objects there as given, status included, as if other controllers had written them. Same name: replaced. */
  seed<T extends KubeObject>(resource: Resource, ...objects: readonly T[]): void;
  /** Takes an object away at once, whatever its finalizers. */
  remove(resource: Resource, namespace: string | undefined, name: string): void;
  stored<T extends KubeObject>(resource: Resource): readonly T[];
  /** Every request so far, in order. */
  journal(): readonly FakeRequest[];
  /** From now on watches from older resourceVersions end with 410. */
  compact(): void;
  /** Deletes what has owners and none of them is left, as the garbage collector would. */
  collectGarbage(): void;
  /** Another one with the same objects and the same past; from now on neither sees what the other is told. */
  fork(options?: FakeKubeOptions): FakeKube;
}

/** What a fork goes on from. */
interface Past {
  readonly store: Store;
  readonly journal: readonly FakeRequest[];
  readonly answeredAt: Date | undefined;
}

interface Caller {
  readonly user: string | undefined;
}

export function createFakeKube(options: FakeKubeOptions = {}, past?: Past): FakeKube {
  const clock = options.clock ?? (() => new Date());
  const store = createStore({ clock, fieldManager: options.fieldManager ?? 'etcd-ratchet' }, past?.store);
  const journal = [...(past?.journal ?? [])];
  let answeredAt = past?.answeredAt;

  return {
    ...kubeFor({ user: undefined }),
    seed: (resource, ...objects) => {
      for (const object of objects) store.seed(resource, object);
    },
    remove: (resource, namespace, name) => store.shelf.drop({ resource, namespace, name }),
    stored: <T extends KubeObject>(resource: Resource) =>
      store.shelf.all(resource) as readonly KubeObject[] as readonly T[],
    journal: () => [...journal],
    compact: () => store.shelf.compact(),
    collectGarbage: () => store.collectGarbage(),
    fork: (itsOptions) => createFakeKube(itsOptions, { store, journal, answeredAt }),
  };

  async function call<R>(
    caller: Caller,
    target: Target,
    facts: CallOptions & { readonly body?: KubeObject; readonly dryRun?: boolean },
    effect: (store: Store) => R,
  ): Promise<R> {
    pathOf(target);
    const request = { ...target, key: countKey(target), user: caller.user, dryRun: facts.dryRun === true };
    const recorded = facts.body === undefined ? request : { ...request, body: frozenCopy(facts.body) };
    if (facts.signal?.aborted === true) throw failure(target, 'Timeout', 'not asked: the time was up already');
    journal.push(recorded);
    noteUsedRights(recorded);
    await options.before?.(recorded);
    answeredAt = clock();
    if (options.serves?.(target.resource) === false) throw refusal(target, { code: 404, reason: 'NotFound' });
    if (options.authorize?.(recorded) === false) {
      throw refusal(target, { code: 403, reason: 'Forbidden', message: `${caller.user} may not do this` });
    }
    const result = effect(store);
    await options.after?.(recorded);
    return result;
  }

  function isListed({ metadata }: KubeObject, namespace: string | undefined): boolean {
    return namespace === undefined
      ? !options.leftOut?.().has(metadata.namespace ?? '')
      : metadata.namespace === namespace;
  }

  function kubeFor(caller: Caller): Kube {
    return {
      list: <T extends KubeObject>(
        resource: Resource,
        { namespace, labelSelector, fieldSelector, whole = false, limit, isBare, signal }: ListFacts,
      ) =>
        call(caller, { verb: 'LIST', resource, namespace }, withSignal(signal), () => ({
          items: keptOf(
            store.shelf
              .all(resource)
              .filter((object) => whole || isListed(object, namespace))
              .filter((object) => matchesLabels(object, labelSelector) && matchesFields(object, fieldSelector))
              .slice(0, limit),
            { isBare },
          ) as readonly KubeObject[] as readonly T[],
          resourceVersion: String(store.shelf.counter()),
        })),
      get: <T extends KubeObject>(
        resource: Resource,
        namespace: string | undefined,
        name: string,
        facts: CallOptions & { readonly metadataOnly?: boolean } = {},
      ) =>
        call(caller, { verb: 'GET', resource, namespace, name }, facts, () =>
          shown(store.get({ resource, namespace, name }) as T | undefined, facts),
        ),
      create: (resource, object, facts = {}) => {
        const target = { verb: 'POST', resource, namespace: object.metadata.namespace } as const;
        return call(caller, target, { ...facts, body: object }, () => store.create(target, object));
      },
      update: (resource, object, facts = {}) => put(caller, resource, object, facts, undefined),
      updateStatus: (resource, object, facts = {}) => put(caller, resource, object, facts, 'status'),
      apply: (resource, object, { fieldManager, dryRun = false, signal }) => {
        const { namespace, name } = object.metadata;
        const target = { verb: 'PATCH', resource, namespace, name } as const;
        const facts = { ...withSignal(signal), body: object, dryRun: dryRun !== false };
        return call(caller, target, facts, () => store.apply(target, object, fieldManager, dryRun));
      },
      dryRun: (resource, object, facts = {}) => {
        const { namespace, name, resourceVersion } = object.metadata;
        const target = resourceVersion
          ? ({ verb: 'PUT', resource, namespace, name } as const)
          : ({ verb: 'POST', resource, namespace } as const);
        return call(caller, target, { ...facts, body: object, dryRun: true }, () => store.tryOut(target, object));
      },
      delete: (resource, namespace, name, { preconditions, signal }) => {
        const target = { verb: 'DELETE', resource, namespace, name } as const;
        return call(caller, target, withSignal(signal), () => store.delete(target, preconditions));
      },
      evict: (namespace, name, { preconditions, signal }) => {
        const resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };
        const target = { verb: 'POST', resource, namespace, name, subresource: 'eviction' } as const;
        return call(caller, target, withSignal(signal), () => store.evict(target, preconditions));
      },
      watch: (resource, facts) => watch(caller, resource, facts),
      as: (serviceAccount) => kubeFor({ user: serviceAccountUser(serviceAccount) }),
      bounded: () => kubeFor(caller),
      leftOut: () => options.leftOut?.() ?? new Map(),
      now: () => answeredAt,
      requests: () =>
        Object.fromEntries([...Map.groupBy(journal, ({ key }) => key)].map(([key, all]) => [key, all.length])),
      close: () => undefined,
    };
  }

  async function put<T extends KubeObject>(
    caller: Caller,
    resource: Resource,
    object: T,
    facts: CallOptions,
    subresource: 'status' | undefined,
  ): Promise<T> {
    const { namespace, name, resourceVersion } = object.metadata;
    if (!resourceVersion) throw new TypeError(`an update of ${name} needs the resourceVersion it is based on`);
    const base = { verb: 'PUT', resource, namespace, name } as const;
    const target: Target = subresource === undefined ? base : { ...base, subresource };
    return call(caller, target, { ...facts, body: object }, () => store.update(target, object));
  }

  async function* watch<T extends KubeObject>(
    caller: Caller,
    resource: Resource,
    {
      namespace,
      labelSelector,
      fieldSelector,
      resourceVersion,
      signal,
    }: ListFacts & { resourceVersion: string; signal: AbortSignal },
  ): AsyncIterable<WatchEvent<T>> {
    if (signal.aborted) return;
    const target = { verb: 'WATCH', resource, namespace } as const;
    await call(caller, target, { signal }, () => {
      const message = 'too old resource version';
      if (store.shelf.isCompacted(Number(resourceVersion)))
        throw refusal(target, { code: 410, reason: 'Expired', message });
    });
    const wanted = (object: KubeObject | undefined) =>
      object !== undefined &&
      (namespace === undefined || object.metadata.namespace === namespace) &&
      matchesLabels(object, labelSelector) &&
      matchesFields(object, fieldSelector);
    let seen = Number(resourceVersion);
    while (!signal.aborted) {
      const upTo = store.shelf.counter();
      for (const change of store.shelf.changesAfter(seen, resource)) {
        seen = change.resourceVersion;
        const before = wanted(change.before);
        const after = wanted(change.after);
        const type = after ? (before ? 'MODIFIED' : 'ADDED') : before ? 'DELETED' : undefined;
        if (type !== undefined) yield { type, object: (change.after ?? change.before) as KubeObject as T };
        if (signal.aborted) return;
      }
      await store.shelf.nextChange(upTo, signal);
    }
  }
}

type ListFacts = Parameters<Kube['list']>[1];

function withSignal(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal };
}

function shown<T extends KubeObject>(found: T | undefined, { metadataOnly = false }): T | undefined {
  if (!found || !metadataOnly) return found;
  const { apiVersion, kind, metadata } = found;
  return { apiVersion, kind, metadata } as T;
}
