import { amongEvery, inEveryPod, metadataOf, podOf, podsOfOurs, resourcesOf } from './places.ts';
import { annotations, boolean, confined, dnsName, id, labels, ours, resources, string } from './schemas.ts';
import type { Value } from './value.ts';

export const pods: readonly Value[] = [
  {
    path: 'tick.schedule',
    about: 'When the CronJob looks at everything. Webhooks and follow-ups come besides.',
    schema: { type: 'string', pattern: '^(@[a-z]+|\\S+( \\S+){4})$' },
    places: [{ kind: 'CronJob', name: 'etcd-ratchet', at: '/spec/schedule', as: 'in-place' }],
  },
  {
    path: 'tick.resources',
    about: 'Of ticks, follow-ups and the Jobs of webhooks.',
    schema: resources,
    places: resourcesOf(podsOfOurs[0]),
  },
  {
    path: 'tick.priorityClassName',
    about: 'The class of ticks. Empty: none. A namespaced installation has none.',
    schema: string,
    places: [{ kind: 'CronJob', name: 'etcd-ratchet', at: `${podOf.CronJob}/priorityClassName`, as: 'in-place' }],
  },
  {
    path: 'podSecurityContext',
    about:
      'Of all our pods but metrics. A field that is null is left out: where the platform assigns users (OpenShift), set runAsUser, runAsGroup and fsGroup to null.',
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        ...confined,
        fsGroup: id,
        fsGroupChangePolicy: { enum: ['Always', 'OnRootMismatch', null] },
        supplementalGroups: { type: ['array', 'null'], items: { type: 'integer', minimum: 1 } },
        supplementalGroupsPolicy: { enum: ['Merge', 'Strict', null] },
      },
    },
    places: podsOfOurs.map(({ kind, name }) => ({ kind, name, at: `${podOf[kind]}/securityContext`, as: 'in-place' })),
  },
  {
    path: 'containerSecurityContext',
    about:
      'Of their containers. What Pod Security calls restricted is the least: our admission policies refuse Jobs with less.',
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['allowPrivilegeEscalation', 'capabilities'],
      properties: {
        ...confined,
        allowPrivilegeEscalation: { const: false },
        readOnlyRootFilesystem: boolean,
        capabilities: {
          type: 'object',
          additionalProperties: false,
          required: ['drop'],
          properties: { drop: { type: 'array', contains: { const: 'ALL' }, items: string } },
        },
      },
    },
    places: podsOfOurs.map(({ kind, name }) => ({
      ...{ kind, name },
      at: `${podOf[kind]}/containers/0/securityContext`,
      as: 'in-place',
    })),
  },
  {
    path: 'podLabels',
    about: 'Labels of all our pods but metrics, beside our own.',
    schema: labels,
    default: {},
    reserved: ours,
    places: podsOfOurs.map(({ kind, name }) => ({ kind, name, at: `${metadataOf[kind]}/labels`, as: 'among' })),
  },
  {
    path: 'podAnnotations',
    about: 'Annotations of all our pods but metrics, beside our own.',
    schema: annotations,
    default: {},
    reserved: ours,
    places: podsOfOurs.map(({ kind, name }) => ({ kind, name, at: `${metadataOf[kind]}/annotations`, as: 'among' })),
  },
  {
    path: 'extraEnv',
    about: 'Variables of their containers, like HTTPS_PROXY, as [{name: …, value: …}]. RATCHET_… are `settings`.',
    schema: {
      type: 'array',
      maxItems: 64,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
          value: string,
          valueFrom: { type: 'object' },
        },
      },
    },
    default: [],
    reserved: [{ prefix: 'RATCHET_', instead: 'set it by settings' }],
    places: amongEvery('/containers/0/env'),
  },
  {
    path: 'priorityClassName',
    about: 'The class of the pods of webhooks and page; ticks have tick.priorityClassName.',
    schema: { type: 'string', maxLength: 253, pattern: `^(${dnsName})?$` },
    default: '',
    places: podsOfOurs
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ kind, name }) => ({ kind, name, at: `${podOf[kind]}/priorityClassName`, as: 'where-set' })),
  },
  {
    path: 'nodeSelector',
    about: 'Of all our pods. Members have their own, in spec.podTemplate.',
    schema: { type: 'object', additionalProperties: string },
    default: {},
    places: inEveryPod('nodeSelector'),
  },
  {
    path: 'tolerations',
    about: 'Of all our pods.',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          key: string,
          operator: { enum: ['Exists', 'Equal'] },
          value: string,
          effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
          tolerationSeconds: { type: 'integer' },
        },
      },
    },
    default: [],
    places: inEveryPod('tolerations'),
  },
  {
    path: 'affinity',
    about: 'Of all our pods.',
    schema: { type: 'object' },
    default: {},
    places: inEveryPod('affinity'),
  },
];
