import { type Kube, type KubeObject, resources } from '../reconcile/kube.ts';

/**
 * An API client that reads a Secret once: for the fleets' part of one pass, where Git, statuses, checks and other fleets mostly name the same
 * one. Only what was there is kept, and nobody waits for another's request: a time-out of one is none of the others.
 */
export function secretsOnce(kube: Kube): Kube {
  const known = new Map<string, KubeObject>();
  return {
    ...kube,
    get: async <T extends KubeObject>(...[resource, namespace, name, options]: Parameters<Kube['get']>) => {
      if (resource !== resources.secrets) return kube.get<T>(resource, namespace, name, options);
      const key = `${namespace}/${name}`;
      const found = known.get(key) ?? (await kube.get<T>(resource, namespace, name, options));
      if (found) known.set(key, found);
      return found as T | undefined;
    },
  };
}
