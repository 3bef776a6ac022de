import Type, { type Static } from 'typebox';
import { anyQuantity, objectName, quantityBetween } from './common-rules.ts';
import { etcdSchema } from './etcd-settings.ts';
import { isQuantity, parseQuantity, type Quantity } from './quantity.ts';
import { matching, rule } from './rule.ts';
import { intOrString, list, map, object, preserved, type ReadonlyDeep, stringMap, text } from './schema.ts';
import { imageDefaults } from './spec-defaults.ts';

/** What a cluster sets for all of its members, and a peer records for its own: the same fields in both kinds. */

export const imageSchema = object(
  {
    repository: Type.Optional(
      text(255, {
        default: imageDefaults.repository,
        description: 'Without tag: the tag follows spec.version. An official etcd image or a copy of one.',
        rules: [
          matching(
            '^([A-Za-z0-9.-]+(:[0-9]{1,5})?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$',
            'must be an image repository like quay.io/coreos/etcd, without tag or digest: the tag follows spec.version',
          ),
        ],
      }),
    ),
    digest: Type.Optional(
      text(71, {
        description: 'sha256:…, instead of the tag. It must be an image of spec.version.',
        rules: [matching('^sha256:[0-9a-f]{64}$', 'must be sha256: and 64 hexadecimal digits')],
      }),
    ),
    pullSecrets: Type.Optional(
      list(object({ name: text(253, { description: "The Secret's name.", rules: [objectName] }) }), 8, {
        description: "Secrets in the cluster's namespace, as a pod's imagePullSecrets.",
      }),
    ),
  },
  { description: 'Where the etcd image comes from.' },
);

/** metadata that people may give to what we make for them. */
const givenMetadata = object(
  {
    labels: Type.Optional(stringMap({ description: 'Added to our own, which win.' })),
    annotations: Type.Optional(stringMap({ description: 'Added to our own, which win.' })),
  },
  { description: 'Labels and annotations of the object.' },
);

export const storageSchema = object(
  {
    size: intOrString({
      description: 'Per member, a quantity like 8Gi. It can grow, never shrink.',
      rules: [quantityBetween('128Mi', '1Pi', ": etcd's write-ahead log alone preallocates 64Mi per segment")],
    }),
    storageClassName: Type.Optional(
      text(253, { description: "Absent: the cluster's default class.", rules: [objectName] }),
    ),
    volumeClaimTemplate: Type.Optional(
      object(
        {
          metadata: Type.Optional(givenMetadata),
          spec: Type.Optional(preserved({ description: 'PersistentVolumeClaimSpec; the size stays in storage.size.' })),
        },
        { description: 'Everything else of the PVC: access modes, selectors, labels.' },
      ),
    ),
  },
  { description: 'The volume of each member.' },
);

const resourceName = '^(cpu|memory|ephemeral-storage|hugepages-[0-9A-Za-z]+|[a-z0-9.-]+/[A-Za-z0-9._-]+)$';
const isResourceName = new RegExp(resourceName);

function amounts(description: string) {
  return map<Quantity>(intOrString({ rules: [anyQuantity] }), 8, {
    description,
    rules: [
      rule<Record<string, Quantity>>({
        message: 'must name resources: cpu, memory, ephemeral-storage, hugepages-<size> or <domain>/<name>',
        cel: `self.all(name, name.matches('${resourceName}'))`,
        holds: (value) => Object.keys(value).every((name) => isResourceName.test(name)),
      }),
    ],
  });
}

/** Of all others Kubernetes asks that both are equal. A rule over any name would cost more than 1.33 admits. */
const comparable = ['cpu', 'memory', 'ephemeral-storage'] as const;

export const resourcesSchema = object(
  {
    limits: Type.Optional(amounts('The most that it may use. Beyond its memory it is killed.')),
    requests: Type.Optional(amounts('What is set aside for it on its node.')),
  },
  {
    description: "The etcd container's resources.",
    rules: [
      rule<{ limits?: Record<string, Quantity>; requests?: Record<string, Quantity> }>({
        message: 'a request must not be larger than its limit',
        cel: `!has(self.limits) || !has(self.requests) || ['${comparable.join("', '")}'].all(name, !(name in self.requests) || !(name in self.limits) || !isQuantity(string(self.requests[name])) || !isQuantity(string(self.limits[name])) || quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)`,
        holds: ({ limits = {}, requests = {} }) =>
          comparable.every((name) => {
            const [request, limit] = [requests[name], limits[name]];
            return !isQuantity(request) || !isQuantity(limit) || parseQuantity(request) <= parseQuantity(limit);
          }),
      }),
    ],
  },
);

export const podTemplateSchema = object(
  {
    metadata: Type.Optional(givenMetadata),
    spec: Type.Optional(preserved({ description: 'PodSpec, strategically merged over our defaults.' })),
  },
  {
    description:
      'What the pods have beyond the defaults. Fields that would lend etcd-ratchet its privileges are refused.',
  },
);

export { etcdSchema };

export type Storage = ReadonlyDeep<Static<typeof storageSchema>>;
export type EtcdSettings = ReadonlyDeep<Static<typeof etcdSchema>>;
export type PodTemplate = ReadonlyDeep<Static<typeof podTemplateSchema>>;
