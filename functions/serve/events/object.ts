import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';

type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

/** All that is looked at of an object before it is read anew. */
const object = {
  fields: {
    kind: 'string',
    metadata: {
      fields: {
        name: 'string',
        namespace: 'string',
        uid: 'string',
        generation: 'number',
        deletionTimestamp: 'string',
        labels: { map: 'string' },
        annotations: { map: 'string' },
        managedFields: { list: { fields: { time: 'string', subresource: 'string' } } },
      },
    },
    status: {
      fields: {
        phase: 'string',
        ready: 'boolean',
        updateRevision: 'string',
        capacity: { map: 'string' },
        conditions: { list: { fields: { type: 'string', status: 'string', reason: 'string' } } },
        containerStatuses: {
          list: {
            fields: {
              restartCount: 'number',
              state: { fields: { waiting: { fields: { reason: 'string' } }, terminated: { fields: {} } } },
            },
          },
        },
      },
    },
  },
} as const satisfies Shape;

/** The object that an event holds; `undefined` where it has not the shape in which the API server writes one. */
export function objectFrom(data: unknown): KubeObject | undefined {
  const isObject = has(data, object) && Object.hasOwn(data as object, 'metadata');
  return isObject ? (data as KubeObject) : undefined;
}

function has(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') return typeof value === shape;
  if ('list' in shape) return Array.isArray(value) && value.every((item) => has(item, shape.list));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if ('map' in shape) return Object.values(value).every((item) => has(item, shape.map));
  return Object.entries(shape.fields).every(([name, wanted]) => {
    const found = (value as Readonly<Record<string, unknown>>)[name];
    return found === undefined || has(found, wanted);
  });
}
