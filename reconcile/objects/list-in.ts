import type { CallOptions, Kube, KubeObject, ListOptions, Resource } from '../interfaces/kube.ts';
import type { Listed } from '../stepping/lists.ts';

/** Namespaces that are looked into. */
export interface Where extends CallOptions {
  /** Absent: all. */
  readonly namespaces?: readonly string[] | undefined;
}

/**
 * Of these namespaces, one LIST each, with the resourceVersion of the first; `undefined`: of all, in one.
 * @throws {KubeError}
 */
export async function listIn<T extends KubeObject>(
  kube: Kube,
  resource: Resource,
  { namespaces, ...options }: Where & Pick<ListOptions, 'labelSelector' | 'isBare'>,
): Promise<Listed<T>> {
  const list = (namespace?: string) => kube.list<T>(resource, { ...options, namespace });
  const lists = await Promise.all(namespaces ? namespaces.map(list) : [list()]);
  return { items: lists.flatMap(({ items }) => items), resourceVersion: lists[0]?.resourceVersion ?? '' };
}

/** Absent: all. */
export function only(namespace: string | undefined): readonly string[] | undefined {
  return namespace === undefined ? undefined : [namespace];
}
