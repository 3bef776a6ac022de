import { dotted } from '../../manifests/api/problem.ts';
import { isRecord } from '../../manifests/json.ts';
import { labels } from '../../manifests/render/names.ts';
import type { ManagedFields } from './hands.ts';

/**
 * A set of fields as `fieldsV1` has it, nested by `f:<name>`. What has nothing in it is there with all that it holds:
 * every list of our specs is of one owner (`x-kubernetes-list-type: atomic`).
 */
export interface Fields {
  readonly [element: string]: unknown;
}

/** Names from the root of an object: `spec`, `etcd`, `snapshotCount`. */
export type FieldPath = readonly string[];

/** As deep as fields are told apart. What is below is one field. */
export const deepest = 32;

export function fieldsOf({ fieldsV1 }: Pick<ManagedFields, 'fieldsV1'>): Fields {
  return isRecord(fieldsV1) ? fieldsV1 : {};
}

/** `undefined`: the set does not have it. */
export function inSet(fields: Fields | undefined, name: string): Fields | undefined {
  const element = `f:${name}`;
  const found = fields && Object.hasOwn(fields, element) ? fields[element] : undefined;
  return isRecord(found) ? found : undefined;
}

export function hasField(fields: Fields, path: FieldPath): boolean {
  return path.reduce<Fields | undefined>(inSet, fields) !== undefined;
}

/** The fields of all of them. Each is looked at once: an object may have thousands of owners. */
export function unionOf(sets: readonly Fields[]): Fields {
  const merged = {};
  for (const fields of sets) add(merged, fields, 0);
  return merged;
}

function add(merged: Record<string, unknown>, fields: Fields, depth: number): void {
  for (const [element, held] of Object.entries(fields)) {
    if (!isRecord(held) || depth >= deepest) {
      if (!Object.hasOwn(merged, element)) merged[element] = held;
      continue;
    }
    const known = Object.hasOwn(merged, element) ? merged[element] : undefined;
    const inner: Record<string, unknown> = isRecord(known) ? known : {};
    merged[element] = inner;
    add(inner, held, depth + 1);
  }
}

/** The fields that hold no others. */
export function* leavesOf(fields: Fields, path: FieldPath = []): Generator<FieldPath> {
  const names = Object.keys(fields).flatMap((element) => (element.startsWith('f:') ? [element.slice(2)] : []));
  if (names.length === 0 || path.length >= deepest) yield path;
  else for (const name of names) yield* leavesOf(inSet(fields, name) ?? {}, [...path, name]);
}

/** The fields of a set that an object does not have. */
export function notIn(object: unknown, fields: Fields): Fields {
  const left = Object.entries(fields).flatMap(([element, held]): (readonly [string, unknown])[] => {
    if (element === '.') return [];
    if (!element.startsWith('f:')) return [[element, held]];
    const value = valueAt(object, [element.slice(2)]);
    if (value === undefined) return [[element, held]];
    const inner = isRecord(held) ? notIn(value, held) : {};
    return Object.keys(inner).length === 0 ? [] : [[element, inner]];
  });
  return Object.fromEntries(left.length > 0 && '.' in fields ? [['.', {}], ...left] : left);
}

/** What an object has there; `undefined`: nothing. */
export function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);
}

/** The value without these fields, and without what held nothing else. In one walk, however many they are. */
export function without<T>(value: T, paths: readonly FieldPath[]): T {
  const tree: Tree = new Map();
  for (const path of paths) {
    let at = tree;
    for (const name of path) {
      const inner = at.get(name) ?? new Map();
      at.set(name, inner);
      at = inner;
    }
  }
  return pruned(value, tree) as T;
}

/** Names that lead to what is taken out, which has nothing in it. */
interface Tree extends Map<string, Tree> {}

function pruned(value: unknown, tree: Tree): unknown {
  if (!isRecord(value) || tree.size === 0) return value;
  const left = Object.entries(value).flatMap(([name, held]): (readonly [string, unknown])[] => {
    const inner = tree.get(name);
    if (!inner) return [[name, held]];
    const rest = inner.size === 0 ? {} : pruned(held, inner);
    return isRecord(rest) && Object.keys(rest).length === 0 ? [] : [[name, rest]];
  });
  return Object.fromEntries(left);
}

/** Whether this entry is what that manager applied. */
export function isAppliedBy({ manager, operation, subresource }: ManagedFields, name: string): boolean {
  return manager === name && operation === 'Apply' && !subresource;
}

/** Whether its manager made the object a fleet's, and so wrote the spec beside that. */
export function ownsLabel(entry: ManagedFields): boolean {
  return !entry.subresource && hasField(fieldsOf(entry), ['metadata', 'labels', labels.fleet]);
}

/** Fields that are told of one object. */
export const mostTold = 10;
/** Characters of a field that are told. */
const longest = 200;

export function sayField(path: FieldPath): string {
  return dotted(path).slice(0, longest);
}

export function sayFields(paths: readonly FieldPath[]): string {
  return fewOf(paths.map(sayField), mostTold);
}

export function fewOf(said: readonly string[], count: number, more = false): string {
  return `${said.slice(0, count).join(', ')}${more || said.length > count ? ' and others' : ''}`;
}
