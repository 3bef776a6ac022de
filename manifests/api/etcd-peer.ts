import Type, { type Static } from 'typebox';
import { etcdSchema, imageSchema, podTemplateSchema, resourcesSchema, storageSchema } from './member-settings.ts';
import { type CustomResource, conditionsSchema } from './metadata.ts';
import { matching, type Rule, rule, transitionRule } from './rule.ts';
import { int32, int64, list, object, type ReadonlyDeep, text } from './schema.ts';
import { etcdId, memberRole, observedGeneration } from './status-fields.ts';
import { peerTlsSchema } from './tls-settings.ts';
import { versionPattern } from './version.ts';

export const volumeStates = [
  'bootstrapping',
  'joining',
  'sealed',
  'releasing',
  'released',
  'recovering',
  'recovered',
  'restoring',
  'restored',
  'superseded',
  'hibernating',
] as const;
export type VolumeState = (typeof volumeStates)[number];

export const etcdPeerSpecSchema = object({
  clusterName: text(63, { minLength: 1, description: 'The EtcdCluster that it is a member of.' }),
  ordinal: int32({ minimum: 0, description: 'The number in its name. None is used twice.' }),
  version: text(32, {
    description: 'The version of etcd that it is to run.',
    rules: [matching(versionPattern, 'must be a version like 3.6.16')],
  }),
  image: imageSchema,
  bootstrap: object(
    {
      token: text(128, { minLength: 1, description: "etcd's --initial-cluster-token: of one birth, and of no other." }),
      initialCluster: list(
        object({
          name: text(253, { minLength: 1, description: "The member's name." }),
          url: text(1024, { minLength: 1, description: 'Its peer URL.' }),
        }),
        32,
        { description: "etcd's --initial-cluster." },
      ),
      state: Type.Enum(['New', 'Existing'], {
        description: "etcd's --initial-cluster-state. New: of a birth. Existing: it joins as a learner.",
      }),
    },
    { description: 'What etcd is told when it starts without data. With data it reads none of it.' },
  ),
  storage: storageSchema,
  etcd: Type.Optional(etcdSchema),
  tls: peerTlsSchema,
  resources: Type.Optional(resourcesSchema),
  podTemplate: Type.Optional(podTemplateSchema),
});

export const etcdPeerStatusSchema = object({
  observedGeneration,
  memberID: Type.Optional(etcdId),
  role: Type.Optional(memberRole),
  version: Type.Optional(text(32, { description: 'The version that runs.' })),
  ready: Type.Optional(Type.Boolean({ description: 'Whether its pod is Ready.' })),
  volumeState: Type.Optional(
    Type.Enum(volumeStates, { description: 'What its volume is for, by the annotation of its PersistentVolumeClaim.' }),
  ),
  statefulSet: Type.Optional(
    object(
      {
        uid: text(64, { description: 'Its UID.' }),
        generation: int64({
          minimum: 1,
          description: 'Its metadata.generation, which every write to its spec raises.',
        }),
      },
      { description: 'The StatefulSet that was found to be as etcd-ratchet writes it: another one is compared anew.' },
    ),
  ),
  conditions: Type.Optional(conditionsSchema),
});

/** Rules about the object as a whole: a peer's identity is for life. */
export const etcdPeerRules: readonly Rule[] = [
  rule<{ metadata: { name: string }; spec: { clusterName: string; ordinal: number } }>({
    message: 'metadata.name must be <spec.clusterName>-<spec.ordinal>',
    // Rather than build the name and compare: the budget has no bound for string(ordinal).
    cel: `self.metadata.name.startsWith(self.spec.clusterName + '-') && self.metadata.name.matches('-[0-9]{1,9}$') && int(self.metadata.name.substring(size(self.spec.clusterName) + 1)) == self.spec.ordinal`,
    holds: ({ metadata, spec }) => metadata.name === `${spec.clusterName}-${spec.ordinal}`,
    fieldPath: '.metadata.name',
  }),
  transitionRule({
    message: 'clusterName and ordinal never change: create another peer',
    cel: 'self.spec.clusterName == oldSelf.spec.clusterName && self.spec.ordinal == oldSelf.spec.ordinal',
    fieldPath: '.spec',
  }),
];

export type EtcdPeerSpec = ReadonlyDeep<Static<typeof etcdPeerSpecSchema>>;
export type EtcdPeerStatus = ReadonlyDeep<Static<typeof etcdPeerStatusSchema>>;
export type PeerBootstrap = EtcdPeerSpec['bootstrap'];

/** The resource that stands for one member: all effective inputs of it. Written by etcd-ratchet, read by people. */
export type EtcdPeer = CustomResource<'EtcdPeer', EtcdPeerSpec, EtcdPeerStatus>;
