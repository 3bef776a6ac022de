import { group, shortNames, version } from '../api/group.ts';
import type { KindDefinition } from '../api/kinds.ts';
import type { Rule } from '../api/rule.ts';
import type { Structural } from '../api/schema.ts';

/** The CustomResourceDefinition of a kind, from the same definition as its type and its validator. */
/** @param served its versions, the one that is stored last; all have one schema, because nothing converts */
export function crdOf(definition: KindDefinition, served: readonly string[] = [version]): object {
  const { kind, plural, singular, categories, selectable, clusterScoped } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/name': 'etcd-ratchet' } },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: shortNames[kind], categories },
      scope: clusterScoped ? 'Cluster' : 'Namespaced',
      versions: served.map((name) => ({
        name,
        served: true,
        storage: name === served.at(-1),
        subresources: subresourcesOf(definition),
        additionalPrinterColumns: definition.columns,
        ...(selectable && { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
        schema: { openAPIV3Schema: rootSchema(definition) },
      })),
    },
  };
}

function subresourcesOf({ scale }: KindDefinition): object {
  if (!scale) return { status: {} };
  const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return { status: {}, scale: { ...paths, labelSelectorPath: '.status.selector' } };
}

function rootSchema({ description, spec, status, rules }: KindDefinition): object {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      // The bound is what the API server allows anyway; the budget of the CEL rules about the name needs to know it.
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 253 } } },
      spec: { description: 'What is asked for.', ...openApi(spec) },
      // What kstatus needs to tell "not yet looked at" from "all is well".
      status: {
        description: 'What was observed, and what is being done about it.',
        default: { observedGeneration: -1 },
        ...openApi(status),
      },
    },
    ...validations(rules),
  };
}

/** Our schemas are structural already; what is left is to turn rules into CEL and to drop what only we understand. */
function openApi(schema: Structural): object {
  const { rules, required, properties, items, additionalProperties, keepsDefault, ...rest } = withoutDefault(schema);
  const type = schema.enum && !schema.type ? { type: 'string' } : {};
  return {
    ...type,
    ...rest,
    ...(required !== undefined && required.length > 0 && { required }),
    ...(properties && { properties: mapValues(properties, openApi) }),
    ...(items && { items: openApi(items) }),
    ...(additionalProperties && { additionalProperties: openApi(additionalProperties) }),
    ...validations(rules ?? []),
  };
}

/** A default that a release may change is told to people, and not written into objects. */
function withoutDefault(schema: Structural): Structural {
  const { default: value, description = '', ...rest } = schema;
  if (value === undefined || schema.keepsDefault) return schema;
  return { ...rest, description: `${description} Default: ${String(value)}.`.trim() };
}

function validations(rules: readonly Rule[]): object {
  if (rules.length === 0) return {};
  return {
    'x-kubernetes-validations': rules.map((one) => ({
      rule: one.cel,
      message: one.message,
      ...(one.fieldPath !== undefined && { fieldPath: one.fieldPath }),
      ...('optionalOldSelf' in one && one.optionalOldSelf && { optionalOldSelf: true }),
    })),
  };
}

function mapValues<T>(values: Readonly<Record<string, T>>, change: (value: T) => object): Record<string, object> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
