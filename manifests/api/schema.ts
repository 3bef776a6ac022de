import Type, { type TProperties, type TSchema, type TSchemaOptions } from 'typebox';
import type { Rule } from './rule.ts';

/**
 * The shapes of our definitions, in the subset of structural CRD schemas: no unions, no references, and a bound on
 * everything that can grow, because the API server budgets CEL rules by the worst case.
 */

/** Readable but never writable: API objects are values here, and changes are new values. */
export type ReadonlyDeep<T> = T extends (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T;

export interface Options extends TSchemaOptions {
  /** The API server writes the default into the object. Others hold in our code, and a release may change them. */
  readonly keepsDefault?: true;
  /** What the schema alone can't say; in the CRD they become CEL rules. */
  readonly rules?: readonly Rule[];
}

export function text(maxLength: number, options: Options & { minLength?: number } = {}) {
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

/** See `Options`. */
export const keepsDefault = true;

/** What people write either as a number or as a string (`8Gi`, `10%`). */
export function intOrString(options: Options = {}) {
  return Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, maxLength: 64, ...options });
}

/** String keys, values of one schema. */
export function map<T>(values: TSchema, maxProperties: number, options: Options = {}) {
  return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: values, maxProperties, ...options });
}

export function stringMap(options: Options = {}) {
  return map<string>(text(1024), 64, options);
}

/** A foreign type, kept as it is. */
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

/** An object with rules of its own. */
export function object<T extends TProperties>(properties: T, options: Options = {}) {
  return Type.Object(properties, options);
}

/** One of our schemas read as plain data: the keywords that we use, and no others. */
export interface Structural {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly keepsDefault?: true;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly additionalProperties?: Structural;
  readonly items?: Structural;
  readonly rules?: readonly Rule[];
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'map' | 'atomic';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

export function structural(schema: TSchema): Structural {
  return schema as Structural;
}

/**
 * A schema for copies of what another object has: without rules about what people may ask for. That object may be older
 * than such a rule, and stays valid; a copy of it is created, and would be refused.
 */
export function forCopies(schema: Structural): Structural {
  const { properties, items, additionalProperties, rules } = schema;
  return {
    ...schema,
    ...(rules && { rules: rules.filter((one) => !('ofPeople' in one)) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, forCopies(value)])),
    }),
    ...(items && { items: forCopies(items) }),
    ...(additionalProperties && { additionalProperties: forCopies(additionalProperties) }),
  };
}
