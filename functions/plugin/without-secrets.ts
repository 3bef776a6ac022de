import type { KubeObject } from '../../reconcile/interfaces/kube.ts';

/** Written by kubectl: the whole object once more, with what is left out here. */
const copies = ['kubectl.kubernetes.io/last-applied-configuration'];

/**
 * An object as it may be shown to others: without what an API server notes for itself, and without literal values of
 * environment variables, which people write passwords into.
 */
export function withoutSecrets<T extends KubeObject>(object: T): T {
  const { managedFields: _, annotations, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown };
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !copies.includes(name));
  const rest = blanked({ ...object, metadata: {} }) as T;
  return { ...rest, metadata: { ...metadata, ...(annotations && { annotations: Object.fromEntries(kept) }) } };
}

function blanked(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => blanked(key === 'env' ? withoutValue(item) : item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, blanked(inner, name)]));
}

function withoutValue(variable: unknown): unknown {
  if (typeof variable !== 'object' || variable === null || !('value' in variable)) return variable;
  return { ...variable, value: '(left out)' };
}
