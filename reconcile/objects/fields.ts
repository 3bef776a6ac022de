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

/** The fields of both. */
export function union(one: Fields, other: Fields, depth = 0): Fields {
  const merged: Record<string, unknown> = { ...one };
  for (const [element, theirs] of Object.entries(other)) {
    const ours = Object.hasOwn(merged, element) ? merged[element] : undefined;
    const isBoth = isRecord(ours) && isRecord(theirs) && depth < deepest;
    merged[element] = isBoth ? union(ours, theirs, depth + 1) : (ours ?? theirs);
  }
  return merged;
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

/** The value without that field, and without what held nothing else. */
export function without<T>(value: T, [name = '', ...rest]: FieldPath): T {
  if (!isRecord(value) || !Object.hasOwn(value, name)) return value;
  const { [name]: found, ...others } = value;
  const left = rest.length === 0 ? undefined : without(found, rest);
  const isLeft = left !== undefined && !(isRecord(left) && Object.keys(left).length === 0);
  return { ...others, ...(isLeft && { [name]: left }) } as T;
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
