import Type, { type Static } from 'typebox';
import { backupTargetSchema } from './backup-settings.ts';
import {
  dnsLabel,
  durationBetween,
  etcdEndpointPattern,
  objectName,
  quantityBetween,
  sha256Digest,
} from './common-rules.ts';
import { longestDurationText } from './duration.ts';
import { longestBackupName } from './identifiers.ts';
import { jobPodsSchema } from './job-pods.ts';
import { type CustomResource, conditionsSchema } from './metadata.ts';
import { celEscape, matching, type Rule, rule, transitionRule } from './rule.ts';
import { int32, int64, intOrString, list, object, type ReadonlyDeep, text, time } from './schema.ts';
import { backupDefaults } from './spec-defaults.ts';
import { failureFields, observedGeneration } from './status-fields.ts';

/** One backup: asked for once, taken once, and what is known of it. */

const endpoint = matching(
  etcdEndpointPattern,
  'must be a client URL of etcd like https://10.0.0.1:2379, without a path and without credentials',
  { hidesValue: true },
);

const sourceSchema = object(
  {
    endpoints: list(text(1024, { minLength: 1, rules: [endpoint] }), 32, {
      description: 'Client URLs. The snapshot is taken from the voter that is furthest, rather not from the leader.',
      rules: [
        rule<readonly string[]>({
          message: 'must not be empty: list at least one client URL of etcd',
          cel: 'size(self) > 0',
          holds: (endpoints) => endpoints.length > 0,
        }),
      ],
    }),
    tlsSecretName: Type.Optional(
      text(253, {
        description: 'A Secret with ca.crt, and tls.crt and tls.key if etcd asks for a certificate.',
        rules: [objectName],
      }),
    ),
  },
  { description: 'An etcd that is no EtcdCluster, by its addresses.' },
);

const scratchSchema = object(
  {
    storageClassName: Type.Optional(
      text(253, {
        description: "A volume of this class, for as long as the restore takes. Absent: the node's own disk.",
        rules: [objectName],
      }),
    ),
    size: Type.Optional(
      intOrString({
        description: 'Absent: three times the snapshot and 512Mi.',
        rules: [quantityBetween('64Mi', '1Pi')],
      }),
    ),
  },
  { description: 'Where the backup is restored to be verified. It goes when that is done.' },
);

interface Spec {
  readonly clusterName?: string;
  readonly source?: unknown;
  readonly existing?: unknown;
  readonly verify?: 'Trailer' | 'Restore';
  readonly to: {
    readonly object: string;
    readonly encryption?: { readonly recipientsSecretName?: string; readonly identitySecretName?: string };
  };
}

const namesCluster = /[{][{] *cluster *[}][}]/;

const oneSource = rule<Spec>({
  message: 'name what is backed up: either clusterName or source, not both',
  cel: 'has(self.clusterName) != has(self.source)',
  holds: ({ clusterName, source }) => (clusterName === undefined) !== (source === undefined),
});

const clusterHasName = rule<Spec>({
  message: '{{cluster}} in to.object takes clusterName: with source, write the name out',
  cel: `has(self.clusterName) || !self.to.object.matches('${celEscape(namesCluster.source)}')`,
  holds: ({ clusterName, to }) => clusterName !== undefined || !namesCluster.test(to.object),
  fieldPath: '.to.object',
});

export const canBeOpened = rule<Pick<Spec, 'verify' | 'to'>>({
  message:
    'verify: Restore takes the private key, too: name to.encryption.identitySecretName, or set verify to Trailer',
  cel: `(has(self.verify) && self.verify == 'Trailer') || !has(self.to.encryption) || !has(self.to.encryption.recipientsSecretName) || has(self.to.encryption.identitySecretName)`,
  holds: ({ verify, to }) =>
    verify === 'Trailer' ||
    to.encryption?.recipientsSecretName === undefined ||
    to.encryption.identitySecretName !== undefined,
  fieldPath: '.to.encryption',
});

/** What a schedule gives to each of its backups, as well. */
export const backupFields = {
  clusterName: Type.Optional(
    text(48, { minLength: 1, description: 'An EtcdCluster of the same namespace.', rules: [objectName] }),
  ),
  source: Type.Optional(sourceSchema),
  to: backupTargetSchema,
  verify: Type.Optional(
    Type.Enum(['Trailer', 'Restore'], {
      default: backupDefaults.verify,
      description:
        "Trailer: etcd's checksum held, and nothing more. Restore: it is restored, started and compared with the member that sent it before the backup is Ready.",
    }),
  ),
  scratch: Type.Optional(scratchSchema),
  podTemplate: Type.Optional(jobPodsSchema),
  deadline: Type.Optional(
    text(longestDurationText, {
      default: backupDefaults.deadline,
      description: 'How long one attempt may take, and how long its verification.',
      rules: [durationBetween('1m', '167h')],
    }),
  ),
};

/** Rules about these fields together. */
export const backupFieldRules: readonly Rule[] = [oneSource, clusterHasName, canBeOpened];

const existingSchema = object(
  { sha256: text(64, { rules: [sha256Digest], description: 'Of the object as it is stored, as its record says it.' }) },
  {
    description:
      'Takes no snapshot: to.object is the whole name of an earlier backup of the cluster, of which every byte is read and compared with its record.',
  },
);

const existingIsNamed = rule<Spec>({
  message: 'existing goes with clusterName, and with the whole name of an object in to.object',
  cel: "!has(self.existing) || (has(self.clusterName) && !self.to.object.contains('{{'))",
  holds: ({ existing, clusterName, to }) =>
    existing === undefined || (clusterName !== undefined && !to.object.includes('{{')),
});

export const etcdBackupSpecSchema = object(
  { ...backupFields, existing: Type.Optional(existingSchema) },
  { rules: [...backupFieldRules, existingIsNamed] },
);

const hashSchema = object(
  {
    hash: int64({ minimum: 0, description: 'The hash itself.' }),
    revision: int64({ minimum: 0, description: 'Up to which revision.' }),
    compactRevision: int64({ minimum: -1, description: 'From which revision: what is older was compacted.' }),
  },
  { description: "etcd's hash over the keys and their history (HashKV), which members and restores are compared by." },
);

const attemptSchema = object(
  {
    number: int32({ minimum: 1, description: 'Which attempt it is, from 1.' }),
    stage: Type.Enum(['Take', 'Verify'], {
      description: 'Take: a snapshot goes to the store. Verify: it is restored.',
    }),
    job: text(63, { description: 'The Job that is at it.' }),
    object: text(1100, { description: 'The whole name that the object has, or will have, in the store.' }),
    startedAt: time({ description: 'When it was begun. spec.deadline counts from here.' }),
  },
  { description: 'What is under way.' },
);

const failureSchema = object(
  {
    ...failureFields,
    at: time({ description: 'When it failed.' }),
    retryAt: Type.Optional(time({ description: 'When it is tried again. Absent: it is not.' })),
  },
  { description: 'How the last attempt failed.' },
);

const verifiedSchema = object(
  {
    at: time({ description: 'When it was proven.' }),
    revision: int64({ minimum: 0, description: 'Of the restored store.' }),
    hashKV: Type.Optional(hashSchema),
    etcdVersion: text(32, { description: 'The etcd that it was started with.' }),
    took: text(32, { description: 'How long the proof took.' }),
  },
  { description: 'What the restored store was like. Present: the backup was restored, started and compared.' },
);

export const etcdBackupStatusSchema = object({
  observedGeneration,
  attempt: Type.Optional(attemptSchema),
  lastFailure: Type.Optional(failureSchema),
  object: Type.Optional(
    text(1100, { description: 'The whole name of the object. It exists, and so does its record.' }),
  ),
  bytes: Type.Optional(int64({ minimum: 0, description: 'Of the object as it is stored.' })),
  size: Type.Optional(text(16, { description: 'The same, rounded, for people.' })),
  sha256: Type.Optional(text(64, { description: 'Of the object as it is stored.' })),
  snapshotBytes: Type.Optional(int64({ minimum: 0, description: 'Before it was compressed and encrypted.' })),
  etcdVersion: Type.Optional(text(32, { description: 'Of the member that sent it.' })),
  clusterID: Type.Optional(
    text(16, { description: 'The etcd cluster that it is of, as etcd prints it: hexadecimal.' }),
  ),
  revision: Type.Optional(
    int64({ minimum: 0, description: 'Every write that was acknowledged up to this revision is in it.' }),
  ),
  hashKV: Type.Optional(hashSchema),
  takenAt: Type.Optional(
    time({ description: 'When the member began to send it, by the clock of the node of its Job.' }),
  ),
  podCreatedAt: Type.Optional(
    time({
      description:
        "When the pod that took it was made, by the API server's clock: every write from before then is in it.",
    }),
  ),
  took: Type.Optional(text(32, { description: 'From then until the object was stored.' })),
  verified: Type.Optional(verifiedSchema),
  finishedAt: Type.Optional(time({ description: 'When nothing more was to be done, however it ended.' })),
  settled: Type.Optional(
    Type.Boolean({ description: 'Whether nothing of it is left to do: of its drills no volume is left, either.' }),
  ),
  conditions: Type.Optional(conditionsSchema),
});

const nameRules: readonly Rule[] = [
  rule<{ metadata: { name: string } }>({
    message: `metadata.name must be at most ${longestBackupName} characters, lower-case letters, digits and "-": Jobs are named after it`,
    cel: `size(self.metadata.name) <= ${longestBackupName} && self.metadata.name.matches('${celEscape(dnsLabel)}')`,
    holds: ({ metadata }) => metadata.name.length <= longestBackupName && new RegExp(dnsLabel).test(metadata.name),
    fieldPath: '.metadata.name',
  }),
];

export const etcdBackupRules: readonly Rule[] = [
  ...nameRules,
  transitionRule({
    message: 'spec never changes: a backup is taken once; create another one',
    cel: 'self.spec == oldSelf.spec',
    fieldPath: '.spec',
  }),
];

type EtcdBackupSpec = ReadonlyDeep<Static<typeof etcdBackupSpecSchema>>;
export type EtcdBackupStatus = ReadonlyDeep<Static<typeof etcdBackupStatusSchema>>;

export type EtcdBackup = CustomResource<'EtcdBackup', EtcdBackupSpec, EtcdBackupStatus>;
