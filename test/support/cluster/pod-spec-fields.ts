/**
 * The fields of a PodSpec and their types, from the OpenAPI document of an API server: what manifests/api/pod-spec.json
 * holds.
 *
 * A type is `string`, `integer`, `boolean`, `quantity`, `intOrString`, the name of another type, `=A|B` for an enum,
 * `[T]` for a list or `{T}` for a map. A key that ends in `!` is required.
 */
export interface PodSpecFields {
  /** Of the API server. */
  readonly kubernetes: string;
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface OpenApi {
  readonly info: { readonly version: string };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const scalars: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'string',
};

/** @throws {Error} for a shape that the little language can't say. */
export function podSpecFields({ info, components }: OpenApi): PodSpecFields {
  const types = new Map<string, Readonly<Record<string, string>>>();
  visit('io.k8s.api.core.v1.PodSpec');
  const sorted = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { kubernetes: info.version, types: Object.fromEntries(sorted) };

  function visit(id: string): string {
    const scalar = scalars[id];
    if (scalar !== undefined) return scalar;
    const name = id.slice(id.lastIndexOf('.') + 1);
    if (types.has(name)) return name;
    types.set(name, {});
    const { properties = {}, required = [] } = components.schemas[id] ?? {};
    const fields = Object.entries(properties).map(([key, schema]) => [
      required.includes(key) ? `${key}!` : key,
      typeOf(schema, `${name}.${key}`),
    ]);
    types.set(name, Object.fromEntries(fields));
    return name;
  }

  function typeOf(schema: Schema, where: string): string {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (ref !== undefined) return visit(ref.slice(ref.lastIndexOf('/') + 1));
    if (schema.enum) return `=${schema.enum.join('|')}`;
    if (schema.type === 'array' && schema.items) return `[${typeOf(schema.items, where)}]`;
    if (schema.type === 'object' && schema.additionalProperties)
      return `{${typeOf(schema.additionalProperties, where)}}`;
    if (schema.type === 'string' || schema.type === 'integer' || schema.type === 'boolean') return schema.type;
    throw new Error(`${where}: ${JSON.stringify(schema).slice(0, 200)} is not understood`);
  }
}
