import Type, { type Static } from 'typebox';
import { authSchema } from './auth-settings.ts';
import { backupNameSchema, snapshotSourceSchema } from './backup-settings.ts';
import { clusterBackupSchema } from './cluster-backup.ts';
import { anyQuantity, durationBetween } from './common-rules.ts';
import { durationPattern, longestDurationText, parseDuration } from './duration.ts';
import type { EtcdClusterStatus } from './etcd-cluster-status.ts';
import { existingClusterSchema, existingStays } from './existing-cluster.ts';
import { externalServiceSchema, externalTakesTls } from './external-service.ts';
import { etcdIdPattern } from './identifiers.ts';
import { etcdSchema, imageSchema, podTemplateSchema, resourcesSchema, storageSchema } from './member-settings.ts';
import type { CustomResource } from './metadata.ts';
import { networkPolicySchema } from './network-policy.ts';
import { parseQuantity, type Quantity } from './quantity.ts';
import { logReserveText, smallestVolume } from './quota-room.ts';
import { matching, type Rule, rule, transitionRule } from './rule.ts';
import { int32, intOrString, keepsDefault, object, type ReadonlyDeep, text } from './schema.ts';
import {
  defragmentationDefaults,
  healingDefaults,
  replacedDefaults,
  retentionDefaults,
  tlsDefaults,
} from './spec-defaults.ts';
import { tlsSchema } from './tls-settings.ts';
import { isSupportedVersion, supportedVersions } from './version.ts';
import { windowsSchema } from './windows.ts';

const retentionPolicies = ['Retain', 'Delete'] as const;

const grace = durationBetween('1s', '168h');

/** In CEL: whether it is no duration, which its own rule says, and what it is, or by default. */
function celOf(field: 'podGracePeriod' | 'memberGracePeriod'): readonly [isBad: string, value: string] {
  return [
    `(has(self.${field}) && !self.${field}.matches('${durationPattern}'))`,
    `(has(self.${field}) ? duration(self.${field}) : duration('${healingDefaults[field]}'))`,
  ];
}
const [badPod, pod] = celOf('podGracePeriod');
const [badMember, member] = celOf('memberGracePeriod');

const podsBeforeMembers = rule<{ podGracePeriod?: string; memberGracePeriod?: string }>({
  message:
    'memberGracePeriod must not be shorter than podGracePeriod: a pod is made anew before its member is replaced',
  cel: `${badPod} || ${badMember} || ${pod} <= ${member}`,
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

const quantityOfQuota = 'quantity(string(self.etcd.quotaBackendBytes))';
const noQuota = `!has(self.etcd) || !has(self.etcd.quotaBackendBytes) || !isQuantity(string(self.etcd.quotaBackendBytes)) || !isQuantity(string(self.storage.size))`;

const quotaLeavesRoom = transitionRule({
  optionalOldSelf: true,
  message: `etcd.quotaBackendBytes must be at most storage.size without ${logReserveText}, or a quarter of it: etcd's log needs the rest, and a disk that is full before the quota stops all members at once. Make the volume larger`,
  // As mostQuota: CEL divides no quantity. A change of an object is judged by the rules, which know what members have.
  cel: `oldSelf.hasValue() || ${noQuota} || ${quantityOfQuota}.add(quantity('${logReserveText}')).compareTo(quantity(string(self.storage.size))) <= 0 || ${quantityOfQuota}.add(${quantityOfQuota}).add(${quantityOfQuota}).add(${quantityOfQuota}).compareTo(quantity(string(self.storage.size))) <= 0`,
  fieldPath: '.etcd.quotaBackendBytes',
});

const volumeHasRoom = transitionRule({
  optionalOldSelf: true,
  message: `storage.size must be at least ${smallestVolume} in a new cluster: etcd's log alone fills a smaller volume`,
  cel: `oldSelf.hasValue() || !isQuantity(string(self.storage.size)) || !quantity(string(self.storage.size)).isLessThan(quantity('${smallestVolume}'))`,
  fieldPath: '.storage.size',
});

/** etcd's gateway dials its own member and verifies nothing: no name is found, so it refuses itself (etcd#12713). */
const gatewayNeedsAny = rule<{
  readonly etcd?: { readonly extraArgs?: Readonly<Record<string, string>> };
  readonly tls?: { readonly certManager?: { readonly allowedNames?: string } };
}>({
  message:
    "etcd.extraArgs can't have enable-grpc-gateway with tls.certManager.allowedNames Own: etcd's HTTP gateway does not work with names, and is off",
  cel: `!has(self.etcd) || !has(self.etcd.extraArgs) || !('enable-grpc-gateway' in self.etcd.extraArgs) || !has(self.tls) || !has(self.tls.certManager) || !has(self.tls.certManager.allowedNames) || self.tls.certManager.allowedNames != 'Own'`,
  holds: ({ etcd, tls }) =>
    etcd?.extraArgs?.['enable-grpc-gateway'] === undefined || tls?.certManager?.allowedNames !== 'Own',
  fieldPath: '.etcd.extraArgs',
});

const gatewayClientNeedsGateway = rule<{
  readonly etcd?: { readonly extraArgs?: Readonly<Record<string, string>> };
  readonly tls?: { readonly gatewayClient?: string };
}>({
  message:
    "tls.gatewayClient Enabled needs etcd's HTTP gateway: of etcd.extraArgs leave enable-grpc-gateway out (it is on), or write true",
  cel: `!has(self.tls) || !has(self.tls.gatewayClient) || self.tls.gatewayClient != 'Enabled' || !has(self.etcd) || !has(self.etcd.extraArgs) || !('enable-grpc-gateway' in self.etcd.extraArgs) || self.etcd.extraArgs['enable-grpc-gateway'] == 'true'`,
  holds: ({ etcd, tls }) =>
    tls?.gatewayClient !== 'Enabled' || (etcd?.extraArgs?.['enable-grpc-gateway'] ?? 'true') === 'true',
  fieldPath: '.tls.gatewayClient',
});

/** Else no certificate tells etcd which user it is that asks. */
const authNeedsIssued = rule<{ readonly auth?: unknown; readonly tls?: { readonly mode?: string } }>({
  message: 'auth needs tls.mode Managed or CertManager: the certificate of a client is what tells who it is',
  cel: `!has(self.auth) || !has(self.tls) || !has(self.tls.mode) || self.tls.mode in ['Managed', 'CertManager']`,
  holds: ({ auth, tls }) => auth === undefined || ['Managed', 'CertManager'].includes(tls?.mode ?? tlsDefaults.mode),
  fieldPath: '.auth',
});

/** In CEL: whether members let in their cluster's own names only. */
function celAllowsOwn(object: 'self' | 'oldSelf'): string {
  const certManager = `${object}.spec.tls.certManager`;
  return `(has(${object}.spec.tls) && has(${certManager}) && has(${certManager}.allowedNames) && ${certManager}.allowedNames == 'Own')`;
}

const oneSnapshot = rule<{ readonly snapshot?: unknown; readonly backupName?: string }>({
  message: 'name what it goes back to: either snapshot or backupName, not both',
  cel: 'has(self.snapshot) != has(self.backupName)',
  holds: ({ snapshot, backupName }) => (snapshot === undefined) !== (backupName === undefined),
});

const oneOrigin = rule<{ readonly snapshot?: unknown; readonly existing?: unknown }>({
  message: 'name what it is born from: either snapshot or existing, not both',
  cel: '!has(self.snapshot) || !has(self.existing)',
  holds: ({ snapshot, existing }) => snapshot === undefined || existing === undefined,
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
          message: `must be a version of etcd like 3.6.16, without v; ${supportedVersions}`,
          cel: `self.matches('^3[.](5[.](19|[2-9][0-9]|[1-9][0-9]{2,3})|[67][.](0|[1-9][0-9]{0,3}))$')`,
          holds: (value) => !value.startsWith('v') && isSupportedVersion(value),
        }),
      ],
    }),
    storage: storageSchema,
    image: Type.Optional(imageSchema),
    etcd: Type.Optional(etcdSchema),
    tls: Type.Optional(tlsSchema),
    auth: Type.Optional(authSchema),
    resources: Type.Optional(resourcesSchema),
    podTemplate: Type.Optional(podTemplateSchema),
    healing: Type.Optional(
      object(
        {
          mode: Type.Optional(
            Type.Enum(['Automatic', 'Manual'], {
              default: healingDefaults.mode,
              description:
                'Manual: no voter is given up before a person approves exactly that one; status.approvals has what to set. What loses nothing goes on: pods are made anew, and a removal that was begun is finished.',
            }),
          ),
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
              description: 'How long a member may be down before it is replaced, or before a person is asked.',
              rules: [grace],
            }),
          ),
        },
        { description: 'When, and by whose decision, what is down is made anew.', rules: [podsBeforeMembers] },
      ),
    ),
    defragmentation: Type.Optional(
      object(
        {
          mode: Type.Optional(
            Type.Enum(['Enabled', 'Disabled'], {
              default: defragmentationDefaults.mode,
              description:
                'Disabled: never to win space, and still where the cluster is out of space and takes no writes.',
            }),
          ),
          minReclaim: Type.Optional(
            intOrString({
              default: defragmentationDefaults.minReclaim,
              description: 'A quantity: the least that must be gained.',
              rules: [anyQuantity],
            }),
          ),
          maxUsedPercent: Type.Optional(
            int32({
              minimum: 0,
              maximum: 100,
              default: defragmentationDefaults.maxUsedPercent,
              description: 'The largest share of the database file that may be in use, in percent.',
            }),
          ),
        },
        { description: 'When a member is defragmented.' },
      ),
    ),
    volumeRetention: Type.Optional(
      object(
        {
          whenDeleted: Type.Optional(
            Type.Enum(retentionPolicies, {
              default: retentionDefaults.whenDeleted,
              keepsDefault,
              description: 'For all members, when the EtcdCluster is deleted.',
            }),
          ),
          whenScaled: Type.Optional(
            Type.Enum(retentionPolicies, {
              default: retentionDefaults.whenScaled,
              keepsDefault,
              description: 'For a member that leaves because replicas became smaller.',
            }),
          ),
          whenReplaced: Type.Optional(
            object(
              {
                policy: Type.Optional(
                  Type.Enum(retentionPolicies, {
                    default: replacedDefaults.policy,
                    keepsDefault,
                    description: 'Delete: after keepFor. Retain: never.',
                  }),
                ),
                keepFor: Type.Optional(
                  text(longestDurationText, {
                    default: replacedDefaults.keepFor,
                    keepsDefault,
                    description: 'With Delete: how long the volume is kept after the replacement votes.',
                    rules: [durationBetween('0s', '8760h')],
                  }),
                ),
              },
              { default: {}, keepsDefault, description: 'For a member that was replaced.' },
            ),
          ),
        },
        { default: {}, keepsDefault, description: 'Whether the volume of a member that is gone is kept.' },
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
    maintenance: Type.Optional(
      object(
        {
          windows: Type.Optional(
            windowsSchema(
              'When members may begin to be restarted, upgraded, defragmented or removed: within any of these. Absent: always. What has begun goes on; healing never waits.',
            ),
          ),
        },
        { description: 'When changes that applications may notice can begin.' },
      ),
    ),
    update: Type.Optional(
      object(
        {
          soak: Type.Optional(
            text(longestDurationText, {
              description:
                'How long the last member keeps its minor after all others got the next one: until then, reverting the version brings all back. Clusters of less than three members have no soak.',
              rules: [durationBetween('1m', '2160h')],
            }),
          ),
        },
        { description: 'How another version of etcd is given to members.' },
      ),
    ),
    networkPolicy: Type.Optional(networkPolicySchema),
    service: Type.Optional(externalServiceSchema),
    bootstrap: Type.Optional(
      object(
        {
          snapshot: Type.Optional(snapshotSourceSchema),
          existing: Type.Optional(existingClusterSchema),
        },
        {
          rules: [oneOrigin],
          description: 'What the cluster is born from. A snapshot is read at birth only.',
        },
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
                etcdIdPattern,
                'must be the ID of an etcd cluster, as status.clusterID says it: up to 16 lower-case hexadecimal digits',
              ),
            ],
          }),
          snapshot: Type.Optional(snapshotSourceSchema),
          backupName: Type.Optional(backupNameSchema),
        },
        {
          rules: [oneSnapshot],
          description:
            'Goes back to a snapshot under the same name. It takes an approval, the annotation etcd.ratchet.dev/roll-back; status.refusals has the command.',
        },
      ),
    ),
    backup: Type.Optional(clusterBackupSchema),
    suspend: Type.Optional(Type.Boolean({ default: false, keepsDefault, description: 'Observe and report only.' })),
  },
  {
    rules: [
      quotaFitsVolume,
      quotaLeavesRoom,
      volumeHasRoom,
      externalTakesTls,
      gatewayNeedsAny,
      gatewayClientNeedsGateway,
      authNeedsIssued,
    ],
  },
);

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
  rule<{ metadata: { name: string } }>({
    message: 'metadata.name must not end in -external: the Service of another cluster could have that name',
    cel: `!self.metadata.name.endsWith('-external')`,
    holds: ({ metadata }) => !metadata.name.endsWith('-external'),
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
    message: 'tls.certManager.allowedNames Own is for life: else certificates of others would be let in again',
    cel: `!has(self.status) || !has(self.status.clusterID) || ${celAllowsOwn('self')} || !${celAllowsOwn('oldSelf')} || (has(self.status.refusals) && self.status.refusals.exists(refusal, refusal.reason in ['TlsModeRefused', 'NamesNotApproved']))`,
    fieldPath: '.spec.tls.certManager.allowedNames',
  }),
  transitionRule({
    message:
      'bootstrap.snapshot is read at birth only: nothing is restored over the data of a cluster; remove it, or create another EtcdCluster',
    cel: `!has(self.status) || !has(self.status.clusterID) || !has(self.spec.bootstrap) || !has(self.spec.bootstrap.snapshot) || (has(oldSelf.spec.bootstrap) && has(oldSelf.spec.bootstrap.snapshot) && self.spec.bootstrap.snapshot == oldSelf.spec.bootstrap.snapshot)`,
    fieldPath: '.spec.bootstrap.snapshot',
  }),
  existingStays,
];

/** The spec as written in Git, before defaults. */
export type EtcdClusterSpec = ReadonlyDeep<Static<typeof etcdClusterSpecSchema>>;

export type EtcdCluster = CustomResource<'EtcdCluster', EtcdClusterSpec, EtcdClusterStatus>;
