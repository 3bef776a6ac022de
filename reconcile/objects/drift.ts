import type { FleetKind } from '../../manifests/api/fleet-kinds.ts';
import { keptDefaults } from '../../manifests/api/kept-defaults.ts';
import { isRecord } from '../../manifests/json.ts';
import { annotations } from '../../manifests/render/names.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import {
  deepest,
  type FieldPath,
  type Fields,
  fewOf,
  fieldsOf,
  hasField,
  inSet,
  isAppliedBy,
  mostTold,
  ownsLabel,
  sayField,
} from './fields.ts';
import { managedFieldsOf, plainManager } from './hands.ts';

/** Live fields of a spec beside those that its fleet applied. */
export interface Drift {
  readonly fields: readonly { readonly path: FieldPath; readonly managers: readonly string[] }[];
  /** There are others. */
  readonly more: boolean;
}

type Specified = KubeObject & { readonly spec?: unknown };

/** The field manager of a fleet, by its `<namespace>/<name>`. */
export function managerOf(fleet: string): string {
  return `etcd-ratchet-fleet-${fleet.replace('/', '-')}`;
}

/**
 * The fields of a live spec that its fleet did not apply: what the fleet's field manager owns is its document. Defaults
 * are no one's. `undefined`: there are none, or no fleet applied the object.
 */
export function driftOf(kind: FleetKind, object: Specified): Drift | undefined {
  const fleet = object.metadata.annotations?.[annotations.fleetName];
  if (fleet === undefined || !isRecord(object.spec)) return undefined;
  const manager = managerOf(fleet);
  const entries = managedFieldsOf(object);
  const ours = entries.filter((entry) => isAppliedBy(entry, manager) || ownsLabel(entry));
  if (ours.length === 0) return undefined;
  const others = entries.filter((entry) => !ours.includes(entry) && entry.subresource !== 'status');
  const found: FieldPath[] = [];
  for (const path of beside(
    object.spec,
    ours.map((entry) => inSet(fieldsOf(entry), 'spec')),
    keptDefaults[kind],
    ['spec'],
  )) {
    if (found.length === mostTold) return { fields: found.map(told), more: true };
    found.push(path);
  }
  return found.length === 0 ? undefined : { fields: found.map(told), more: false };

  function told(path: FieldPath) {
    const owners = others.filter((entry) => hasField(fieldsOf(entry), path)).map(plainManager);
    return { path, managers: [...new Set(owners)].slice(0, 2) };
  }
}

/** Empty maps say nothing: they are what is left where a field was removed. */
function* beside(
  value: Readonly<Record<string, unknown>>,
  ours: readonly (Fields | undefined)[],
  defaults: unknown,
  path: FieldPath,
): Generator<FieldPath> {
  for (const [name, held] of Object.entries(value)) {
    const at = [...path, name];
    const own = ours.map((fields) => inSet(fields, name));
    const usual = isRecord(defaults) && Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (isRecord(held) && at.length < deepest) yield* beside(held, own, usual, at);
    else if (held !== null && held !== usual && own.every((fields) => fields === undefined)) yield at;
  }
}

/** `spec.etcd.snapshotCount (kubectl-patch)`. @param count as many fields at most */
export function sayDrift({ fields, more }: Drift, count = mostTold): string {
  const said = fields.map(({ path, managers }) => `${sayField(path)} (${managers.join(', ') || 'no manager'})`);
  return fewOf(said, count, more);
}

/** A patch that removes the fields; `undefined`: there are others, or a name that a shell could take for more. */
export function removalOf({ fields, more }: Drift): string | undefined {
  if (more || !fields.every(({ path }) => path.every((name) => /^[A-Za-z0-9][\w./-]*$/.test(name)))) return undefined;
  const patch: Record<string, unknown> = {};
  for (const { path } of fields) {
    let at = patch;
    for (const name of path.slice(0, -1)) {
      const inner = isRecord(at[name]) ? { ...at[name] } : {};
      at[name] = inner;
      at = inner;
    }
    at[path.at(-1) ?? ''] = null;
  }
  return JSON.stringify(patch);
}
