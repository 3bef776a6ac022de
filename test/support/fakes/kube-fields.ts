/**
 * The owner of each field: enough of server-side apply for tests.
 *
 * Maps are merged, lists are one value (the API server merges some lists by key; nothing here depends on that).
 */

import { isDeepStrictEqual } from 'node:util';

type Fields = Record<string, unknown>;
/** Manager and operation, e.g. `etcd-ratchet Apply`, to the fields it owns. */
export type Owners = ReadonlyMap<string, ReadonlySet<string>>;

export type Merged =
  | { readonly kind: 'merged'; readonly object: Fields; readonly owners: Owners }
  | { readonly kind: 'conflict'; readonly manager: string; readonly field: string };

const noFields: ReadonlySet<string> = new Set();
const setByServer = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'];

export function applyFields(current: Fields, applied: Fields, manager: string, owners: Owners): Merged {
  const me = `${manager} Apply`;
  const wanted = leavesOf(applied);
  for (const [other, fields] of owners) {
    if (other === me) continue;
    for (const [path, value] of wanted) {
      if (fields.has(path) && !isDeepStrictEqual(valueAt(current, path), value)) {
        return { kind: 'conflict', manager: other, field: pathKeys(path).join('.') };
      }
    }
  }
  const object = structuredClone(current);
  const others = new Set([...owners].filter(([name]) => name !== me).flatMap(([, fields]) => [...fields]));
  for (const path of owners.get(me) ?? noFields) {
    if (!wanted.has(path) && !others.has(path)) removeAt(object, pathKeys(path));
  }
  for (const [path, value] of wanted) writeAt(object, pathKeys(path), value);
  return { kind: 'merged', object, owners: new Map(owners).set(me, new Set(wanted.keys())) };
}

/** After a POST or PUT: what it changed belongs to whoever sent it. */
export function ownersAfterUpdate(before: Fields, after: Fields, manager: string, owners: Owners): Owners {
  const taken = changedLeaves(before, after);
  const me = `${manager} Update`;
  const rest = [...owners].map(
    ([name, fields]) => [name, new Set([...fields].filter((path) => !taken.has(path)))] as const,
  );
  return new Map(rest).set(me, new Set([...(owners.get(me) ?? []), ...taken]));
}

function changedLeaves(before: Fields, after: Fields): ReadonlySet<string> {
  const changed = new Set<string>();
  visit(before, after, []);
  return changed;

  function visit(old: unknown, value: unknown, path: readonly string[]): void {
    if (old === value) return;
    if (isMap(value) && Object.keys(value).length > 0) {
      for (const [key, below] of Object.entries(value)) visit(isMap(old) ? old[key] : undefined, below, [...path, key]);
    } else if (isOwnable(path) && !isDeepStrictEqual(old, value)) changed.add(JSON.stringify(path));
  }
}

function leavesOf(object: Fields): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  visit(object, []);
  return leaves;

  function visit(value: unknown, path: readonly string[]): void {
    if (isMap(value) && Object.keys(value).length > 0) {
      for (const [key, below] of Object.entries(value)) visit(below, [...path, key]);
    } else if (value !== undefined && isOwnable(path)) leaves.set(JSON.stringify(path), value);
  }
}

function isOwnable([first, second]: readonly string[]): boolean {
  if (first === undefined || first === 'apiVersion' || first === 'kind' || first === 'status') return false;
  return first !== 'metadata' || !['name', 'namespace', ...setByServer].includes(second ?? '');
}

function pathKeys(path: string): string[] {
  return JSON.parse(path) as string[];
}

function valueAt(object: Fields, path: string): unknown {
  return pathKeys(path).reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), object);
}

function writeAt(object: Fields, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    object[key] = value;
    return;
  }
  const below = object[key];
  const child = isMap(below) ? below : {};
  object[key] = child;
  writeAt(child, rest, value);
}

function removeAt(object: Fields, [key = '', ...rest]: readonly string[]): void {
  const below = object[key];
  if (rest.length > 0 && isMap(below)) removeAt(below, rest);
  if (rest.length === 0 || (isMap(below) && Object.keys(below).length === 0)) delete object[key];
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
