import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../interfaces/kube.ts';
import { ofFleets } from '../objects/drift.ts';
import {
  type FieldPath,
  type Fields,
  fieldsOf,
  hasField,
  inSet,
  isAppliedBy,
  leavesOf,
  notIn,
  ownsLabel,
  unionOf,
  valueAt,
} from '../objects/fields.ts';
import type { ManagedFields } from '../objects/hands.ts';
import { inheritFromKubectl, type Ownership } from './inherit-from-kubectl.ts';
import type { FleetObject } from './objects.ts';
import type { PlannedApply } from './plan.ts';
import type { DesiredSpec } from './reading.ts';

/**
 * The owners of fields as they are to be before the document is applied; `undefined`: as they are. From kubectl a fleet
 * inherits only what no fleet has had before.
 */
export function ownershipBefore(
  kind: Exclude<PlannedApply['kind'], 'create' | 'settled'>,
  entries: readonly ManagedFields[],
  manager: string,
): Ownership | undefined {
  if (kind === 'adopt') {
    // What a person added since a fleet first had it stays: it was told as drift, and no document ever set it.
    const isNew = !entries.some((entry) => entry.manager?.startsWith(ofFleets));
    return isNew ? inheritFromKubectl(entries, manager) : undefined;
  }
  const inherited = inherit(entries, manager);
  return inherited && { entries: inherited, from: [] };
}

/** Fields that go from there: they become the fleet's, and neither its document nor another manager has them. */
export function droppedBy(
  { object }: Pick<DesiredSpec, 'object'>,
  { entries }: Ownership,
  manager: string,
  from: FieldPath = ['spec'],
): readonly FieldPath[] {
  const isOurs = (entry: ManagedFields) => isAppliedBy(entry, manager);
  const ours = unionOf(entries.filter(isOurs).map(fieldsOf));
  const others = unionOf(entries.filter((entry) => !isOurs(entry) && entry.subresource !== 'status').map(fieldsOf));
  const held = from.reduce<Fields | undefined>(inSet, ours);
  if (!held) return [];
  return [...leavesOf(held, from)].filter((path) => valueAt(object, path) === undefined && !hasField(others, path));
}

/**
 * The entries with the fleet's fields under our name; `undefined`: they are already. The writer of the owner label
 * wrote the specs beside it: an earlier owner, or this fleet by its POST, which is recorded as an update by the client.
 * Otherwise a field that a commit removes stays for ever, because its recorded owner never releases it.
 */
function inherit(entries: readonly ManagedFields[], manager: string): readonly ManagedFields[] | undefined {
  const inherited = entries.filter((entry) => !isAppliedBy(entry, manager) && ownsLabel(entry));
  if (inherited.length === 0) return undefined;
  const rest = entries.filter((entry) => !inherited.includes(entry));
  if (rest.some((entry) => isAppliedBy(entry, manager))) return rest;
  return [...rest, { ...inherited[0], manager, operation: 'Apply' }];
}

/**
 * The entries without the fields of this document that hands changed (kubectl edit, scale, patch); `undefined`: there
 * are none. Git wins over such drift. A manager that *applied* fields, such as another fleet or GitOps tool, declared
 * them as its own: that stays a visible conflict, never a tug-of-war.
 */
export function withoutHands(
  entries: readonly ManagedFields[],
  document: KubeObject,
): readonly ManagedFields[] | undefined {
  let isNews = false;
  const rest = entries.flatMap((entry): readonly ManagedFields[] => {
    if (entry.operation !== 'Update' || entry.subresource === 'status') return [entry];
    const fieldsV1 = notIn(document, fieldsOf(entry));
    if (isDeepStrictEqual(fieldsV1, entry.fieldsV1)) return [entry];
    isNews = true;
    return Object.keys(fieldsV1).length === 0 ? [] : [{ ...entry, fieldsV1 }];
  });
  if (!isNews) return undefined;
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
  const others = entries.filter(
    (entry) => entry.operation === 'Apply' && !isAppliedBy(entry, manager) && !ownsLabel(entry),
  );
  return new Set(others.map(({ manager = '' }) => manager));
}
