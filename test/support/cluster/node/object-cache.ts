import { type Api, isStatus } from './api.ts';
import { type ConfigMap, corePath, type Pod, type Secret } from './wire.ts';

/**
 * ConfigMaps and Secrets for the pods of one node. What is immutable a kubelet reads once and keeps for as long as a
 * pod that it has refers to it, also when it is deleted, or made anew under its name
 * (pkg/kubelet/util/manager/watch_based_manager.go).
 */
export type ObjectCache = {
  /** `undefined` when there is none. */
  get<T extends ConfigMap | Secret>(pod: Pod, resource: 'configmaps' | 'secrets', name: string): Promise<T | undefined>;
  /** The pod refers to nothing any more. */
  release(pod: Pod): void;
};

type Kept = { readonly object: ConfigMap | Secret; readonly users: Set<string> };

export function createObjectCache(api: Api, keepsImmutable: boolean): ObjectCache {
  const kept = new Map<string, Kept>();
  return {
    get: async <T extends ConfigMap | Secret>(pod: Pod, resource: string, name: string) => {
      const path = corePath(pod.metadata.namespace, resource, name);
      const known = kept.get(path);
      if (known) {
        known.users.add(pod.metadata.uid);
        return known.object as T;
      }
      const object = await found(api.get<T>(path));
      if (keepsImmutable && object?.immutable) kept.set(path, { object, users: new Set([pod.metadata.uid]) });
      return object;
    },
    release: ({ metadata: { uid } }) => {
      for (const [path, { users }] of kept) if (users.delete(uid) && users.size === 0) kept.delete(path);
    },
  };
}

/** `undefined` when there is none. */
export async function found<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}
