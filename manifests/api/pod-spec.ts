import fields from './pod-spec.json' with { type: 'json' };
import { isQuantity } from './quantity.ts';
import { rule } from './rule.ts';
import type { Structural } from './schema.ts';

/** Unlike in our own fields, 0.5 is one too. */
const anyNumberOrText = rule<unknown>({ message: 'must be a quantity like 500m or 8Gi', cel: '', holds: isQuantity });

/** What merging brings when the template leaves it out. Of all other required fields nothing of ours is there. */
const ofOurs: ReadonlySet<string> = new Set([
  'PodSpec.containers',
  'SeccompProfile.type',
  'SleepAction.seconds',
  'TopologySpreadConstraint.maxSkew',
  'TopologySpreadConstraint.whenUnsatisfiable',
]);

/**
 * The PodSpec that `spec.podTemplate.spec` patches over our defaults. From the API server's own OpenAPI document: an
 * integration test holds pod-spec.json against it.
 */
export const podSpecSchema: Structural = structuralOf();

/** The Kubernetes whose fields are known here, like `1.36`. */
export const podSpecVersion: string = fields.kubernetes;

function structuralOf(): Structural {
  const types: Readonly<Record<string, Readonly<Record<string, string>>>> = fields.types;
  const made = new Map<string, Structural>();
  return named('PodSpec');

  function named(name: string): Structural {
    const known = made.get(name);
    if (known) return known;
    const entries = Object.entries(types[name] ?? {}).map(([key, type]) => ({
      key,
      name: key.replace(/!$/, ''),
      type,
    }));
    const schema: Structural = {
      type: 'object',
      properties: Object.fromEntries(entries.map((entry) => [entry.name, typed(entry.type)])),
      required: entries.filter((e) => e.key !== e.name && !ofOurs.has(`${name}.${e.name}`)).map((e) => e.name),
    };
    made.set(name, schema);
    return schema;
  }

  function typed(type: string): Structural {
    if (type.startsWith('=')) return { type: 'string', enum: type.slice(1).split('|') };
    if (type.startsWith('[')) return { type: 'array', items: typed(type.slice(1, -1)) };
    if (type.startsWith('{')) return { type: 'object', additionalProperties: typed(type.slice(1, -1)) };
    switch (type) {
      case 'string':
      case 'integer':
      case 'boolean':
        return { type };
      case 'intOrString':
        return { 'x-kubernetes-int-or-string': true };
      case 'quantity':
        return { rules: [anyNumberOrText] };
      default:
        return named(type);
    }
  }
}
