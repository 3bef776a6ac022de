import Type, { type TSchema, type TSchemaOptions } from 'typebox';

/**
 * The few shapes that our definitions are made of, in the subset that a structural CRD schema may use: no unions, no
 * references, and a bound on everything that can grow, because the API server budgets CEL rules by the worst case.
 */

/** Readable by whoever has one, writable by nobody: API objects are values here, and changes are new values. */
export type ReadonlyDeep<T> = T extends (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T;

/** A CEL rule as the CRD carries it: what must hold, and what a person reads when it does not. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired';
}

interface Options extends TSchemaOptions {
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

export function text(maxLength: number, options: Options & { pattern?: string; minLength?: number } = {}) {
  return Type.String({ maxLength, ...options });
}

export function int32(options: Options & { minimum?: number; maximum?: number } = {}) {
  return Type.Integer({ format: 'int32', ...options });
}

export function int64(options: Options & { minimum?: number; maximum?: number } = {}) {
  return Type.Integer({ format: 'int64', ...options });
}

/** RFC 3339, as the API server writes times. */
export function time(options: Options = {}) {
  return Type.String({ format: 'date-time', maxLength: 40, ...options });
}

/** What people write either as a number or as a string (`8Gi`, `10%`). */
export function intOrString(options: Options & { pattern?: string } = {}) {
  return Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, maxLength: 64, ...options });
}

/** String keys, values of one schema. */
export function map<T>(values: TSchema, maxProperties: number, options: Options = {}) {
  return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: values, maxProperties, ...options });
}

export function stringMap(options: Options = {}) {
  return map<string>(text(1024), 64, options);
}

/** Somebody else's type, kept as it is. */
export function preserved(options: Options = {}) {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...options,
  });
}

/** A list whose entries are told apart by these fields, so that two appliers can each own some. */
export function mapList<T extends TSchema>(items: T, maxItems: number, keys: readonly string[], options: Options = {}) {
  return Type.Array(items, {
    maxItems,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...options,
  });
}

/** A list that one writer replaces as a whole. */
export function list<T extends TSchema>(items: T, maxItems: number, options: Options = {}) {
  return Type.Array(items, { maxItems, 'x-kubernetes-list-type': 'atomic', ...options });
}

/**
 * A field that must be there, but whose absence is refused by a CEL rule of its parent: the API server's own words for a
 * missing field ("Required value") would not say what to do, and it evaluates no rule once a required field is missing.
 */
export function requiredByRule<T extends TSchema>(schema: T): T {
  return Object.assign(schema, { [requiredByRuleMark]: true });
}

export const requiredByRuleMark = 'x-required-by-rule';
