import Type, { type Static } from 'typebox';
import {
  etcdSchema,
  imageSchema,
  podTemplateSchema,
  resourcesSchema,
  storageSchema,
  tlsSchema,
} from './member-settings.ts';
import { conditionsSchema, type ObjectMeta } from './metadata.ts';
import { int32, int64, intOrString, list, preserved, type ReadonlyDeep, requiredByRule, text, time } from './schema.ts';

const retentionPolicies = ['Retain', 'Delete'] as const;

export const etcdClusterSpecSchema = Type.Object({
  replicas: int32({ minimum: 0, maximum: 9, description: 'Members. 0 hibernates; odd numbers up to 7 are sensible.' }),
  version: text(32, { description: 'Of etcd, like 3.6.16. It goes up only, one minor at a time.' }),
  storage: storageSchema,
  image: Type.Optional(imageSchema),
  etcd: Type.Optional(etcdSchema),
  tls: requiredByRule(tlsSchema),
  resources: Type.Optional(resourcesSchema),
  podTemplate: Type.Optional(podTemplateSchema),
  healing: Type.Optional(
    Type.Object(
      {
        podGracePeriod: Type.Optional(
          text(32, { default: '2m', description: 'Until a pod that is down is looked after.' }),
        ),
        memberGracePeriod: Type.Optional(text(32, { default: '10m', description: 'Until a lost member is replaced.' })),
      },
      { default: {} },
    ),
  ),
  defragmentation: Type.Optional(
    Type.Object(
      {
        minReclaim: Type.Optional(intOrString({ description: 'A quantity: what must be gained at least.' })),
        maxUsedRatio: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      },
      { description: 'When it pays to defragment a member.' },
    ),
  ),
  volumeRetention: Type.Optional(
    Type.Object(
      {
        whenDeleted: Type.Optional(Type.Enum(retentionPolicies, { default: 'Retain' })),
        whenScaled: Type.Optional(Type.Enum(retentionPolicies, { default: 'Delete' })),
      },
      { default: {} },
    ),
  ),
  suspend: Type.Optional(Type.Boolean({ default: false, description: 'Observe and report only.' })),
});

const memberStatusSchema = Type.Object({
  name: text(253),
  id: Type.Optional(text(16, { description: 'As etcd prints it: hexadecimal.' })),
  role: Type.Optional(Type.Enum(['voter', 'learner'])),
  version: Type.Optional(text(32)),
  healthy: Type.Boolean(),
  dbSize: Type.Optional(int64({ minimum: 0, description: 'Bytes.' })),
  dbSizeInUse: Type.Optional(int64({ minimum: 0, description: 'Bytes.' })),
});

const stepSchema = Type.Object(
  {
    action: text(64),
    parameters: Type.Optional(preserved({ description: 'The whole action: who takes over finishes this very step.' })),
    target: Type.Optional(text(253)),
    reason: text(128),
    holder: Type.Object({ pod: text(253), uid: text(64) }),
    startedAt: time(),
    deadline: time(),
  },
  { description: 'The step that an invocation has claimed.' },
);

const refusalSchema = Type.Object({
  reason: text(128),
  message: text(2048),
  field: Type.Optional(text(256)),
});

const historyEntrySchema = Type.Object({
  at: time(),
  action: text(64),
  target: Type.Optional(text(253)),
  reason: text(128),
  message: text(2048),
  outcome: text(64),
  revision: Type.Optional(text(512)),
});

export const etcdClusterStatusSchema = Type.Object({
  observedGeneration: int64({ minimum: -1 }),
  clusterID: Type.Optional(text(16, { description: 'As etcd prints it: hexadecimal.' })),
  leader: Type.Optional(text(253, { description: "The leader's name." })),
  clusterVersion: Type.Optional(text(32, { description: "etcd's cluster version, like 3.6.0." })),
  replicas: Type.Optional(int32({ minimum: 0 })),
  readyReplicas: Type.Optional(int32({ minimum: 0 })),
  selector: Type.Optional(text(512, { description: 'Of the pods, for the scale subresource.' })),
  members: Type.Optional(list(memberStatusSchema, 32)),
  step: Type.Optional(stepSchema),
  refusals: Type.Optional(list(refusalSchema, 32, { description: 'What the spec asks for and can not be done.' })),
  history: Type.Optional(list(historyEntrySchema, 20)),
  lastDecision: Type.Optional(
    Type.Object({
      kind: Type.Enum(['act', 'wait', 'refuse', 'done']),
      reason: text(128),
      message: text(2048),
    }),
  ),
  revision: Type.Optional(text(512, { description: '<ref>@sha1:<40 hex>' })),
  conditions: Type.Optional(conditionsSchema),
});

/** What is written in Git, before defaults. */
export type EtcdClusterSpec = ReadonlyDeep<Static<typeof etcdClusterSpecSchema>>;
export type EtcdClusterStatus = ReadonlyDeep<Static<typeof etcdClusterStatusSchema>>;
export type ClusterMemberStatus = ReadonlyDeep<Static<typeof memberStatusSchema>>;
export type ClusterStep = ReadonlyDeep<Static<typeof stepSchema>>;
export type ClusterRefusal = ReadonlyDeep<Static<typeof refusalSchema>>;
export type ClusterHistoryEntry = ReadonlyDeep<Static<typeof historyEntrySchema>>;

/** One etcd cluster, desired and observed. */
export interface EtcdCluster {
  readonly apiVersion: 'etcd.ratchet.dev/v1alpha1';
  readonly kind: 'EtcdCluster';
  readonly metadata: ObjectMeta;
  readonly spec: EtcdClusterSpec;
  readonly status?: EtcdClusterStatus;
}
