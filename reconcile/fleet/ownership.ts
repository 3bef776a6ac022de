import { labels } from '../../manifests/render/names.ts';
import type { ManagedFields } from '../objects/hands.ts';
import type { FleetObject } from './objects.ts';

/**
 * The entries with the fleet's fields under our name; `undefined`: they are already. The writer of the owner label
 * wrote the specs beside it: an earlier owner, or this fleet by its POST, which is recorded as an update by the client.
 * Otherwise a field that a commit removes stays for ever, because its recorded owner never releases it.
 */
export function inherit(entries: readonly ManagedFields[], manager: string): readonly ManagedFields[] | undefined {
  const inherited = entries.filter((entry) => !isOurs(entry, manager) && ownsLabel(entry));
  if (inherited.length === 0) return undefined;
  const rest = entries.filter((entry) => !inherited.includes(entry));
  if (rest.some((entry) => isOurs(entry, manager))) return rest;
  return [...rest, { ...inherited[0], manager, operation: 'Apply' }];
}

/**
 * The entries without those of hands that changed single fields (kubectl edit, scale, patch); `undefined`: there are
 * none. Git wins over such drift. A manager that *applied* fields, such as another fleet or GitOps tool, declared them
 * as its own: that stays a visible conflict, never a tug-of-war.
 */
export function withoutHands(entries: readonly ManagedFields[]): readonly ManagedFields[] | undefined {
  const rest = entries.filter(({ operation, subresource }) => operation !== 'Update' || subresource === 'status');
  if (rest.length === entries.length) return undefined;
  // An empty list would mean "as it was"; one empty entry means "no owner".
  return rest.length === 0 ? [{}] : rest;
}

/** For a PUT that changes only the owners of fields. It carries the resourceVersion that was read. */
export function withManagedFields(object: FleetObject, managedFields: readonly ManagedFields[]): FleetObject {
  const metadata = { ...object.metadata, managedFields };
  return { ...object, apiVersion: 'etcd.ratchet.dev/v1alpha1', metadata };
}

/**
 * Other managers that declared fields as their own, so that a conflict with them stays one. Fields beside the owner
 * label are inherited, and changes by hand are put back: see `inherit` and `withoutHands`.
 */
export function declaredBy(entries: readonly ManagedFields[], manager: string): ReadonlySet<string> {
  const others = entries.filter((entry) => entry.operation === 'Apply' && !isOurs(entry, manager) && !ownsLabel(entry));
  return new Set(others.map(({ manager = '' }) => manager));
}

function isOurs({ manager, operation, subresource }: ManagedFields, name: string): boolean {
  return manager === name && operation === 'Apply' && !subresource;
}

function ownsLabel({ fieldsV1, subresource }: ManagedFields): boolean {
  if (subresource) return false;
  const path = ['f:metadata', 'f:labels', `f:${labels.fleet}`];
  let fields: unknown = fieldsV1;
  for (const key of path) {
    if (typeof fields !== 'object' || fields === null || !(key in fields)) return false;
    fields = Reflect.get(fields, key);
  }
  return true;
}
