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
  unionOf,
} from './fields.ts';
import { managedFieldsOf, plainManager } from './hands.ts';

interface Beside {
  readonly path: FieldPath;
  /** What goes with it: the largest map of which nothing is ours. One that was added may need all of its fields. */
  readonly whole: FieldPath;
}

/** Live fields of a spec beside those that its fleet applied. */
export interface Drift {
  readonly fields: readonly (Beside & { readonly managers: readonly string[] })[];
  /** There are others. */
  readonly more: boolean;
}

type Specified = KubeObject & { readonly spec?: unknown };

/** How the field managers of fleets begin. */
export const ofFleets = 'etcd-ratchet-fleet-';

/** The field manager of a fleet, by its `<namespace>/<name>`. */
export function managerOf(fleet: string): string {
  return `${ofFleets}${fleet.replace('/', '-')}`;
}

/** As many fields of a spec as are compared: no person writes more, and each pass looks at all clusters. */
const mostLookedAt = 10_000;

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
  const found: Beside[] = [];
  const own = inSet(unionOf(ours.map(fieldsOf)), 'spec');
  let looked = 0;
  for (const field of beside(object.spec, own, keptDefaults[kind], ['spec'])) {
    if (found.length === mostTold) return { fields: found.map(told), more: true };
    if (field) found.push(field);
    else if (++looked > mostLookedAt) break;
  }
  return found.length === 0 ? undefined : { fields: found.map(told), more: false };

  function told({ path, whole }: Beside) {
    const owners = others.filter((entry) => hasField(fieldsOf(entry), path)).map(plainManager);
    return { path, whole, managers: [...new Set(owners)].slice(0, 2) };
  }
}

/**
 * Also `undefined` for each field that was looked at. Empty maps say nothing: they are what is left where a field was
 * removed.
 */
function* beside(
  value: Readonly<Record<string, unknown>>,
  ours: Fields | undefined,
  defaults: unknown,
  path: FieldPath,
  within?: FieldPath,
): Generator<Beside | undefined> {
  for (const [name, held] of Object.entries(value)) {
    yield undefined;
    const at = [...path, name];
    const own = inSet(ours, name);
    const usual = isRecord(defaults) && Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    const whole = within ?? (own === undefined && usual === undefined ? at : undefined);
    if (isRecord(held) && at.length < deepest) yield* beside(held, own, usual, at, whole);
    else if (held !== null && held !== usual && own === undefined) yield { path: at, whole: whole ?? at };
  }
}

/** `spec.etcd.snapshotCount (kubectl-patch)`. @param count as many fields at most */
export function sayDrift({ fields, more }: Drift, count = mostTold): string {
  const said = fields.map(({ path, managers }) => `${sayField(path)} (${managers.join(', ') || 'no manager'})`);
  return fewOf(said, count, more);
}

/** A patch that removes the fields; `undefined`: there are others, or a name that a shell could take for more. */
export function removalOf({ fields, more }: Drift): string | undefined {
  if (more || !fields.every(({ whole }) => whole.every((name) => /^[A-Za-z0-9][\w./-]*$/.test(name)))) return undefined;
  const patch: Record<string, unknown> = {};
  for (const { whole: path } of fields) {
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
