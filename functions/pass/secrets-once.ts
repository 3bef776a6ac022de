import { type Kube, type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';

/**
 * An API client that reads a Secret once: for the fleets' part of one pass, where Git, statuses, checks and other
 * fleets mostly name the same one. Only found Secrets are kept, and each caller sends its own request until then: a
 * time-out of one caller does not fail the others.
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
