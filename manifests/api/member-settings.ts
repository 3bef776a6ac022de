import Type, { type Static } from 'typebox';
import { int64, intOrString, list, map, preserved, type ReadonlyDeep, stringMap, text } from './schema.ts';

/** What a cluster sets for all of its members, and a peer records for its own: the same fields in both kinds. */

export const imageSchema = Type.Object(
  {
    repository: Type.Optional(
      text(255, {
        default: 'quay.io/coreos/etcd',
        description: 'Without tag: the tag follows spec.version. An official etcd image or a copy of one.',
      }),
    ),
    digest: Type.Optional(
      text(71, { description: 'sha256:…, instead of the tag. It must be an image of spec.version.' }),
    ),
    pullSecrets: Type.Optional(
      list(Type.Object({ name: text(253, { minLength: 1 }) }), 8, {
        description: "Secrets in the cluster's namespace, as a pod's imagePullSecrets.",
      }),
    ),
  },
  { default: {}, description: 'Where the etcd image comes from.' },
);

export const storageSchema = Type.Object(
  {
    size: intOrString({ description: 'Per member, a quantity like 8Gi. It can grow, never shrink.' }),
    storageClassName: Type.Optional(text(253, { description: "Absent: the cluster's default class." })),
    volumeClaimTemplate: Type.Optional(
      Type.Object(
        {
          metadata: Type.Optional(
            Type.Object({ labels: Type.Optional(stringMap()), annotations: Type.Optional(stringMap()) }),
          ),
          spec: Type.Optional(preserved({ description: 'PersistentVolumeClaimSpec; the size stays in storage.size.' })),
        },
        { description: 'For everything else about the claim: access modes, selectors, labels.' },
      ),
    ),
  },
  { description: 'The volume of each member.' },
);

export const etcdSchema = Type.Object(
  {
    quotaBackendBytes: Type.Optional(
      intOrString({ description: 'A quantity like 6Gi, smaller than the volume. Absent: follows the volume.' }),
    ),
    autoCompaction: Type.Optional(
      Type.Object(
        {
          mode: Type.Enum(['periodic', 'revision']),
          retention: intOrString({
            description: 'A duration like 1h (periodic), or a number of revisions (revision).',
          }),
        },
        { description: 'Absent: etcd keeps every revision, as is its own default.' },
      ),
    ),
    heartbeatInterval: Type.Optional(text(32, { description: 'A duration like 100ms.' })),
    electionTimeout: Type.Optional(text(32, { description: 'A duration like 1s, at least five heartbeats.' })),
    snapshotCount: Type.Optional(int64({ description: 'Applied entries between two snapshots of raft.' })),
    extraArgs: Type.Optional(
      map<string>(text(1024), 64, {
        description: 'Further flags of etcd, without dashes. What is set elsewhere, or by etcd-ratchet, is refused.',
      }),
    ),
  },
  { description: "etcd's own settings." },
);

export const tlsModes = ['Managed', 'CertManager', 'Provided', 'Disabled'] as const;
export type TlsMode = (typeof tlsModes)[number];

export const tlsSchema = Type.Object(
  { mode: Type.Enum(tlsModes) },
  { description: 'Decided at birth: peer URLs carry the scheme. In this release only {mode: Disabled}.' },
);

export const resourcesSchema = Type.Object(
  {
    limits: Type.Optional(map<number | string>(intOrString(), 16)),
    requests: Type.Optional(map<number | string>(intOrString(), 16)),
  },
  { description: "The etcd container's resources." },
);

export const podTemplateSchema = Type.Object(
  {
    metadata: Type.Optional(
      Type.Object({ labels: Type.Optional(stringMap()), annotations: Type.Optional(stringMap()) }),
    ),
    spec: Type.Optional(preserved({ description: 'PodSpec, strategically merged over our defaults.' })),
  },
  { description: 'What the pods should have beyond our defaults. What would lend our privileges is refused.' },
);

export type Image = ReadonlyDeep<Static<typeof imageSchema>>;
export type Storage = ReadonlyDeep<Static<typeof storageSchema>>;
export type EtcdSettings = ReadonlyDeep<Static<typeof etcdSchema>>;
export type Tls = ReadonlyDeep<Static<typeof tlsSchema>>;
export type Resources = ReadonlyDeep<Static<typeof resourcesSchema>>;
export type PodTemplate = ReadonlyDeep<Static<typeof podTemplateSchema>>;
