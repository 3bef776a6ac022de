import Type, { type Static } from 'typebox';
import { snapshotSourceSchema } from './backup-settings.ts';
import { clusterBackupSchema } from './cluster-backup.ts';
import { anyQuantity, durationBetween } from './common-rules.ts';
import { defragmentationDefaults } from './defragmentation-defaults.ts';
import { durationPattern, longestDurationText, parseDuration } from './duration.ts';
import { healingDefaults, replacedDefaults } from './healing-defaults.ts';
import { etcdSchema, imageSchema, podTemplateSchema, resourcesSchema, storageSchema } from './member-settings.ts';
import { conditionsSchema, type ObjectMeta } from './metadata.ts';
import { parseQuantity, type Quantity } from './quantity.ts';
import { matching, type Rule, rule, transitionRule } from './rule.ts';
import { int32, int64, intOrString, list, object, preserved, type ReadonlyDeep, text, time } from './schema.ts';
import { retentionDefaults } from './spec-defaults.ts';
import { tlsSchema } from './tls-settings.ts';
import { isSupportedVersion, supportedVersions } from './version.ts';

const retentionPolicies = ['Retain', 'Delete'] as const;

const grace = durationBetween('1s', '168h');

const podsBeforeMembers = rule<{ podGracePeriod?: string; memberGracePeriod?: string }>({
  message:
    'memberGracePeriod must not be shorter than podGracePeriod: a pod is made anew before its member is replaced',
  cel: `!has(self.podGracePeriod) || !has(self.memberGracePeriod) || !self.podGracePeriod.matches('${durationPattern}') || !self.memberGracePeriod.matches('${durationPattern}') || duration(self.podGracePeriod) <= duration(self.memberGracePeriod)`,
  holds: (given) => {
    const { podGracePeriod, memberGracePeriod } = { ...healingDefaults, ...given };
    return parseDuration(podGracePeriod) <= parseDuration(memberGracePeriod);
  },
});

const quotaFitsVolume = rule<{ storage: { size: Quantity }; etcd?: { quotaBackendBytes?: Quantity } }>({
  message:
    'etcd.quotaBackendBytes must be smaller than storage.size: a full disk stops a member, a full quota only stops writes',
  cel: `!has(self.etcd) || !has(self.etcd.quotaBackendBytes) || !isQuantity(string(self.etcd.quotaBackendBytes)) || !isQuantity(string(self.storage.size)) || quantity(string(self.etcd.quotaBackendBytes)).isLessThan(quantity(string(self.storage.size)))`,
  holds: ({ storage, etcd }) =>
    etcd?.quotaBackendBytes === undefined || parseQuantity(etcd.quotaBackendBytes) < parseQuantity(storage.size),
  fieldPath: '.etcd.quotaBackendBytes',
});

export const etcdClusterSpecSchema = object(
  {
    replicas: int32({
      minimum: 0,
      maximum: 9,
      description: 'Members. 0 hibernates; odd numbers up to 7 are sensible.',
    }),
    version: text(32, {
      description: 'The version of etcd, like 3.6.16. It only goes up, one minor at a time.',
      rules: [
        rule<string>({
          message: `must be a version of etcd like 3.6.16; ${supportedVersions}`,
          cel: `self.matches('^v?3[.](5[.](19|[2-9][0-9]|[1-9][0-9]{2,3})|[67][.](0|[1-9][0-9]{0,3}))$')`,
          holds: isSupportedVersion,
        }),
      ],
    }),
    storage: storageSchema,
    image: Type.Optional(imageSchema),
    etcd: Type.Optional(etcdSchema),
    tls: Type.Optional(tlsSchema),
    resources: Type.Optional(resourcesSchema),
    podTemplate: Type.Optional(podTemplateSchema),
    healing: Type.Optional(
      object(
        {
          podGracePeriod: Type.Optional(
            text(longestDurationText, {
              default: healingDefaults.podGracePeriod,
              description: 'How long a pod may be down before it is made anew.',
              rules: [grace],
            }),
          ),
          memberGracePeriod: Type.Optional(
            text(longestDurationText, {
              default: healingDefaults.memberGracePeriod,
              description: 'How long a member may be down before it is replaced.',
              rules: [grace],
            }),
          ),
        },
        { default: {}, description: 'When what is down is made anew.', rules: [podsBeforeMembers] },
      ),
    ),
    defragmentation: Type.Optional(
      object(
        {
          minReclaim: Type.Optional(
            intOrString({
              default: defragmentationDefaults.minReclaim,
              description: 'A quantity: the least that must be gained.',
              rules: [anyQuantity],
            }),
          ),
          maxUsedRatio: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              default: defragmentationDefaults.maxUsedRatio,
              description: 'The largest part of the database file that may be in use.',
            }),
          ),
        },
        { default: {}, description: 'When a member is defragmented.' },
      ),
    ),
    volumeRetention: Type.Optional(
      object(
        {
          whenDeleted: Type.Optional(
            Type.Enum(retentionPolicies, {
              default: retentionDefaults.whenDeleted,
              description: 'For all members, when the EtcdCluster is deleted.',
            }),
          ),
          whenScaled: Type.Optional(
            Type.Enum(retentionPolicies, {
              default: retentionDefaults.whenScaled,
              description: 'For a member that leaves because replicas became smaller.',
            }),
          ),
          whenReplaced: Type.Optional(
            object(
              {
                policy: Type.Optional(
                  Type.Enum(retentionPolicies, {
                    default: replacedDefaults.policy,
                    description: 'Delete: after keepFor. Retain: never.',
                  }),
                ),
                keepFor: Type.Optional(
                  text(longestDurationText, {
                    default: replacedDefaults.keepFor,
                    description: 'With Delete: how long the volume is kept after the replacement votes.',
                    rules: [durationBetween('0s', '8760h')],
                  }),
                ),
              },
              { default: {}, description: 'For a member that was replaced.' },
            ),
          ),
        },
        { default: {}, description: 'Whether the volume of a member that is gone is kept.' },
      ),
    ),
    disruption: Type.Optional(
      object(
        {
          whenQuorumIsLost: Type.Optional(
            Type.Enum(['Refuse', 'Allow'], {
              description:
                'Whether a drain may evict a pod of a cluster of one or two members, which then has no quorum until the pod is back. By default two members refuse, one allows. Three and more always keep their quorum.',
            }),
          ),
        },
        { description: 'What a drain of a node may do.' },
      ),
    ),
    bootstrap: Type.Optional(
      object(
        {
          snapshot: Type.Optional(snapshotSourceSchema),
        },
        { description: 'What the cluster is born from. It is read at birth only.' },
      ),
    ),
    rollback: Type.Optional(
      object(
        {
          clusterID: text(16, {
            description:
              'The etcd cluster that is given up, as status.clusterID says it. To any other one nothing is done.',
            rules: [
              matching(
                '^[1-9a-f][0-9a-f]{0,15}$',
                'must be the ID of an etcd cluster, as status.clusterID says it: up to 16 lower-case hexadecimal digits',
              ),
            ],
          }),
          snapshot: snapshotSourceSchema,
        },
        {
          description:
            'Goes back to a snapshot under the same name. It takes an approval, the annotation etcd.ratchet.dev/roll-back; status.refusals has the command.',
        },
      ),
    ),
    backup: Type.Optional(clusterBackupSchema),
    suspend: Type.Optional(Type.Boolean({ default: false, description: 'Observe and report only.' })),
  },
  { rules: [quotaFitsVolume] },
);

const memberStatusSchema = object({
  name: text(253, { description: 'The member, whose pod is <name>-0.' }),
  id: Type.Optional(text(16, { description: 'As etcd prints it: hexadecimal.' })),
  role: Type.Optional(Type.Enum(['voter', 'learner'], { description: 'A learner has no vote yet.' })),
  version: Type.Optional(text(32, { description: 'The version that runs.' })),
  healthy: Type.Boolean({ description: 'Whether nothing is wrong with it.' }),
  startedAt: Type.Optional(
    time({ description: 'For a learner: when its etcd first ran. The time that it has counts from here.' }),
  ),
  unhealthySince: Type.Optional(
    time({ description: 'When it was first seen unhealthy. spec.healing counts from here.' }),
  ),
  dbSize: Type.Optional(int64({ minimum: 0, description: 'Of its database file, in bytes.' })),
  dbSizeInUse: Type.Optional(int64({ minimum: 0, description: 'Of that: what is in use, in bytes.' })),
});

const certificatesStatusSchema = object(
  {
    notAfter: time({ description: 'When the first of all certificates ends.' }),
    secretName: text(253, { description: 'The Secret of that certificate.' }),
    renewAfter: time({ description: 'When the next certificate is due for renewal.' }),
    rotation: Type.Optional(text(253, { description: 'The request for new CAs that was answered last.' })),
    issued: Type.Optional(text(64, { description: 'A hash of what cert-manager had issued by then.' })),
  },
  { description: 'Of all certificates of the cluster.' },
);

const stepSchema = object(
  {
    action: text(64, { description: 'What is done.' }),
    parameters: Type.Optional(
      preserved({ description: 'The whole action: an invocation that takes over finishes this very step.' }),
    ),
    target: Type.Optional(text(253, { description: 'To what.' })),
    reason: text(128, { description: 'Why, in one word of docs/reference/reasons.md.' }),
    holder: object(
      {
        pod: text(253, { description: "The pod's name." }),
        uid: text(64, { description: "The pod's UID." }),
      },
      { description: 'The pod of the invocation. Once it has ended, another one takes over.' },
    ),
    startedAt: time({ description: 'When it was taken on.' }),
    deadline: time({ description: 'When another invocation takes over, whatever became of the pod.' }),
  },
  { description: 'The step that an invocation has taken on (its lease).' },
);

const refusalSchema = object({
  reason: text(128, { description: 'Why, in one word of docs/reference/reasons.md.' }),
  message: text(2048, { description: 'Why, in words, and what would make it go on.' }),
  field: Type.Optional(text(256, { description: 'The field of the spec that it is about.' })),
});

const setAsideSchema = object({
  action: text(64, { description: 'What was to be done.' }),
  target: Type.Optional(text(253, { description: 'To what.' })),
  key: text(64, { description: 'Tells the action from others of its kind.' }),
  reason: text(128, { description: 'Why it was refused, in one word.' }),
  message: text(2048, { description: 'Why it was refused, in words.' }),
  generation: int64({ minimum: 0, description: 'The generation of the spec at which it was refused.' }),
  repeated: Type.Optional(
    Type.Boolean({
      description:
        'Failed in a way that may pass by itself. It steps aside only after some failures in a row, and only where something else can go on.',
    }),
  ),
  since: time({ description: 'When it was first refused.' }),
  tries: int32({ minimum: 1, description: 'How often it was tried.' }),
  until: time({ description: 'When it is tried again. A new spec, or a request to look now, makes it try at once.' }),
});

const historyEntrySchema = object({
  at: time({ description: 'When it was over.' }),
  action: text(64, { description: 'What was done.' }),
  target: Type.Optional(text(253, { description: 'To what.' })),
  reason: text(128, { description: 'Why, in one word of docs/reference/reasons.md.' }),
  message: text(2048, { description: 'Why, in words.' }),
  outcome: text(64, { description: 'How it ended.' }),
  generation: Type.Optional(int64({ minimum: 0, description: 'The generation of the spec that asked for it.' })),
  revision: Type.Optional(text(512, { description: 'The revision that asked for it: <ref>@sha1:<40 hex>.' })),
});

export const etcdClusterStatusSchema = object({
  observedGeneration: int64({ minimum: -1, description: 'The generation of the spec that this status is about.' }),
  lastHandledReconcileAt: Type.Optional(
    text(253, { description: 'The value of the annotation etcd.ratchet.dev/reconcile that was last answered.' }),
  ),
  clusterID: Type.Optional(text(16, { description: 'As etcd prints it: hexadecimal.' })),
  gaveUp: Type.Optional(
    list(text(16), 64, {
      description: 'Etcd clusters that were given up for this one when it was rolled back, the last one last.',
    }),
  ),
  leader: Type.Optional(text(253, { description: "The leader's name." })),
  version: Type.Optional(
    text(64, { description: 'What the members run: one version, or the lowest and the highest, like 3.5.35..3.6.16.' }),
  ),
  clusterVersion: Type.Optional(text(32, { description: "etcd's cluster version, like 3.6.0." })),
  replicas: Type.Optional(int32({ minimum: 0, description: 'Members that there are.' })),
  readyReplicas: Type.Optional(int32({ minimum: 0, description: 'Of those: members that are healthy.' })),
  selector: Type.Optional(text(512, { description: 'The label selector of the pods, for the scale subresource.' })),
  members: Type.Optional(list(memberStatusSchema, 32, { description: 'The members, as etcd and their pods have it.' })),
  certificates: Type.Optional(certificatesStatusSchema),
  step: Type.Optional(stepSchema),
  refusals: Type.Optional(list(refusalSchema, 32, { description: 'What the spec asks for and cannot be done.' })),
  setAside: Type.Optional(
    list(setAsideSchema, 16, {
      description:
        'Actions that were refused, or failed, and will be tried again; what does not depend on them goes on.',
    }),
  ),
  history: Type.Optional(list(historyEntrySchema, 20, { description: 'The last steps, the newest one last.' })),
  lastDecision: Type.Optional(
    object(
      {
        kind: Type.Enum(['act', 'wait', 'refuse', 'done'], {
          description:
            'act: a step was taken. wait: something must come first. refuse: a person is needed. done: nothing.',
        }),
        reason: text(128, { description: 'Why, in one word of docs/reference/reasons.md.' }),
        message: text(2048, { description: 'Why, in words.' }),
      },
      { description: 'What the last invocation decided.' },
    ),
  ),
  revision: Type.Optional(text(512, { description: '<ref>@sha1:<40 hex>' })),
  conditions: Type.Optional(conditionsSchema),
});

/** StatefulSets are named `<cluster>-<n>` and may have 52 characters; three digits are room for every replacement. */
const longestName = 48;

/** Rules about the object as a whole. */
export const etcdClusterRules: readonly Rule[] = [
  rule<{ metadata: { name: string } }>({
    message: `metadata.name must be at most ${longestName} characters: StatefulSets made from it (<name>-<n>) may have 52`,
    cel: `size(self.metadata.name) <= ${longestName}`,
    holds: ({ metadata }) => metadata.name.length <= longestName,
    fieldPath: '.metadata.name',
  }),
  rule<{ metadata: { name: string } }>({
    message:
      'metadata.name must be lower-case letters, digits and "-", starting with a letter: Services are named after it',
    cel: `self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    holds: ({ metadata }) => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(metadata.name),
    fieldPath: '.metadata.name',
  }),
  rule<{ metadata: { name: string } }>({
    message: 'metadata.name must not end in -peers: the headless Service of another cluster could have that name',
    cel: `!self.metadata.name.endsWith('-peers')`,
    holds: ({ metadata }) => !metadata.name.endsWith('-peers'),
    fieldPath: '.metadata.name',
  }),
  // No such rule about storage.size: whether a smaller one can be had is told by the volumes, which a rule can't see.
  // Where none of them grew, `git revert` cures a size that was refused; where one did, the reconciler says so
  // (`VolumeShrinkRefused`). Before there is a cluster ID nothing holds data, and a commit may still cure a bad
  // beginning. Status may vanish: the reconciler's own rules, which look at the volumes, are what protects; this one
  // only answers sooner. Applied again in another mode than its volumes were born with, it must be possible to say the
  // right one.
  transitionRule({
    message: 'tls.mode is decided at birth: peer URLs carry the scheme',
    cel: `!has(self.status) || !has(self.status.clusterID) || !has(oldSelf.spec.tls) || (has(self.spec.tls) && self.spec.tls.mode == oldSelf.spec.tls.mode) || (has(self.status.refusals) && self.status.refusals.exists(refusal, refusal.reason == 'TlsModeRefused'))`,
    fieldPath: '.spec.tls.mode',
  }),
  transitionRule({
    message:
      'bootstrap.snapshot is read at birth only: nothing is restored over the data of a cluster; remove it, or create another EtcdCluster',
    cel: `!has(self.status) || !has(self.status.clusterID) || !has(self.spec.bootstrap) || !has(self.spec.bootstrap.snapshot) || (has(oldSelf.spec.bootstrap) && has(oldSelf.spec.bootstrap.snapshot) && self.spec.bootstrap.snapshot == oldSelf.spec.bootstrap.snapshot)`,
    fieldPath: '.spec.bootstrap.snapshot',
  }),
];

/** What is written in Git, before defaults. */
export type EtcdClusterSpec = ReadonlyDeep<Static<typeof etcdClusterSpecSchema>>;
export type EtcdClusterStatus = ReadonlyDeep<Static<typeof etcdClusterStatusSchema>>;
export type ClusterMemberStatus = ReadonlyDeep<Static<typeof memberStatusSchema>>;
export type ClusterStep = ReadonlyDeep<Static<typeof stepSchema>>;
export type ClusterSetAside = ReadonlyDeep<Static<typeof setAsideSchema>>;
export type ClusterHistoryEntry = ReadonlyDeep<Static<typeof historyEntrySchema>>;

/** One etcd cluster, desired and observed. */
export interface EtcdCluster {
  readonly apiVersion: 'etcd.ratchet.dev/v1alpha1';
  readonly kind: 'EtcdCluster';
  readonly metadata: ObjectMeta;
  readonly spec: EtcdClusterSpec;
  readonly status?: EtcdClusterStatus;
}
