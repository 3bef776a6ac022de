import type { Resource } from '../interfaces/kube.ts';

export interface Target {
  readonly verb: 'LIST' | 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'WATCH';
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  /** Absent for a collection. */
  readonly name?: string | undefined;
  readonly subresource?: 'status' | 'eviction';
}

/**
 * The URL path, without the API server's own prefix. @throws {TypeError} for a namespace or name that is empty or would
 * change the path: a DELETE with an empty name deletes the whole collection, and `..` leaves the namespace
 */
export function pathOf({ resource, namespace, name, subresource }: Target): string {
  const root = resource.apiVersion.includes('/') ? 'apis' : 'api';
  const segments = ['', root, resource.apiVersion];
  if (namespace !== undefined) segments.push('namespaces', segment('namespace', namespace));
  segments.push(resource.plural);
  if (name !== undefined) segments.push(segment('name', name));
  if (subresource !== undefined) segments.push(subresource);
  return segments.join('/');
}

/** For messages: `PUT etcdclusters/status payments/orders`. */
export function describe(target: Target): string {
  const place = [target.namespace, target.name].filter((part) => part !== undefined).join('/');
  if (target.name !== undefined) return `${countKey(target)} ${place}`;
  return `${countKey(target)} ${target.namespace === undefined ? 'in all namespaces' : `in namespace ${place}`}`;
}

/** Under which requests are counted: `LIST pods`, `PUT etcdclusters/status`. */
export function countKey({ verb, resource, subresource }: Target): string {
  return `${verb} ${resource.plural}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** Writes must never be repeated: after a failure it is unknown whether they took effect. */
export function isWrite({ verb }: Target): boolean {
  switch (verb) {
    case 'LIST':
    case 'GET':
    case 'WATCH':
      return false;
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE':
      return true;
  }
}

/** @throws {TypeError} unless both could be names in Kubernetes: `a:b` would impersonate another account altogether. */
export function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  for (const [what, value] of Object.entries({ namespace, name })) {
    if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value)) {
      throw new TypeError(`${JSON.stringify(value)} cannot be the ${what} of a service account`);
    }
  }
  return `system:serviceaccount:${namespace}:${name}`;
}

// The rule of k8s.io/apimachinery IsValidPathSegmentName.
function segment(what: string, value: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TypeError(`${JSON.stringify(value)} cannot be the ${what} of a Kubernetes object`);
  }
  return encodeURIComponent(value);
}
