import Type, { type Static, type TProperties } from 'typebox';
import { httpUrl, objectName, sha256Digest } from './common-rules.ts';
import { parseLocation, parseObjectTemplate } from './object-template.ts';
import { celEscape, matching, type Rule, rule } from './rule.ts';
import { int64, type Options, object, type ReadonlyDeep, text } from './schema.ts';
import { storeDefaults } from './spec-defaults.ts';

/**
 * Where a backup is, and with what credentials: the same words in every kind that names one. All Secrets are of the
 * resource's own namespace. They are mounted into the agent's pod, and etcd-ratchet never reads them.
 */

const variable = '[{][{] *(namespace|cluster|name|uid|timestamp) *[}][}]';
const part = '[A-Za-z0-9._=+@,:-]';
const bucket =
  '(gs://[a-z0-9][a-z0-9_.-]{1,61}|s3://[a-z0-9][a-z0-9.-]{1,61}|pvc://([a-z0-9][a-z0-9.-]{0,251})?)[a-z0-9]';
const wholeTemplate = `^${bucket}(/(${part}|${variable})+)+$`;
const wholeLocation = `^${bucket}(/${part}+)+$`;
/** A part of dots alone, a bucket with two, what an upload under way has in its name, and what lies beside objects. */
const refused = '(/[.]+(/|$)|^[a-z0-9]+://[^/]*[.][.]|[.]partial-|[.]json$)';

function named(
  whole: string,
  message: string,
  parse: (text: string) => { readonly problem: string } | object,
): readonly Rule[] {
  const problemOf = (value: string) => {
    const parsed = parse(value);
    return 'problem' in parsed ? String(parsed.problem) : undefined;
  };
  return [
    rule<string>({
      message,
      cel: `self.matches('${celEscape(whole)}') && !self.matches('${celEscape(refused)}')`,
      holds: (value) => new RegExp(whole, 'u').test(value) && problemOf(value) === undefined,
      explain: problemOf,
    }),
  ];
}

function secret(description: string) {
  return Type.Optional(text(253, { description, rules: [objectName] }));
}

const oneBundle = rule<{ secretName?: string; configMapName?: string }>({
  message: 'name one of them: either secretName or configMapName',
  cel: 'has(self.secretName) != has(self.configMapName)',
  holds: ({ secretName, configMapName }) => (secretName === undefined) !== (configMapName === undefined),
});

/** How the object is reached and opened. */
const access = {
  gcs: Type.Optional(
    object(
      {
        keySecretName: secret("A Secret with key.json, a service account's key. Absent: workload identity."),
        endpoint: Type.Optional(text(1024, { description: "In place of Google's.", rules: [httpUrl] })),
        authentication: Type.Optional(
          Type.Enum(['Default', 'Anonymous'], {
            default: storeDefaults.authentication,
            description: 'Default: with the key, or by workload identity. Anonymous: no credentials are sent.',
          }),
        ),
      },
      { description: 'Of gs:// objects.' },
    ),
  ),
  s3: Type.Optional(
    object(
      {
        credentialsSecretName: secret(
          "A Secret with access-key-id, secret-access-key and, if there is one, session-token. Absent: the pod's role.",
        ),
        endpoint: Type.Optional(text(1024, { description: "In place of Amazon's.", rules: [httpUrl] })),
        region: Type.Optional(
          text(64, {
            description: "The bucket's. Absent: us-east-1.",
            rules: [matching('^[A-Za-z0-9-]+$', 'must be the name of a region like eu-central-1')],
          }),
        ),
        addressing: Type.Optional(
          Type.Enum(['Path', 'VirtualHost'], {
            description: 'Where requests name the bucket. Absent: Path with an endpoint, else VirtualHost.',
          }),
        ),
      },
      { description: 'Of s3:// objects.' },
    ),
  ),
  caBundle: Type.Optional(
    object(
      {
        secretName: secret('A Secret that holds it.'),
        configMapName: secret('A ConfigMap that holds it.'),
        key: Type.Optional(
          text(253, {
            default: storeDefaults.bundleKey,
            description: 'The key in it that holds the certificates.',
            rules: [matching('^[-._a-zA-Z0-9]+$', 'must be a key of a Secret or ConfigMap, like ca.crt')],
          }),
        ),
      },
      {
        description:
          'Certificates of authorities, PEM, that signed what an object store shows. Trusted beside those that every client knows.',
        rules: [oneBundle],
      },
    ),
  ),
  encryption: Type.Optional(
    object(
      {
        recipientsSecretName: secret('A Secret with recipients.txt, public keys of age, one a line: what encrypts.'),
        identitySecretName: secret('A Secret with identity.txt, private keys of age, one a line: what decrypts.'),
      },
      { description: 'By age, in the pod, before anything is sent.' },
    ),
  ),
  serviceAccountName: Type.Optional(
    text(253, {
      description: "The pod's service account, where it bears an identity of the cloud. Absent: default.",
      rules: [objectName],
    }),
  ),
} as const;

const settingsOfTheScheme = rule<{ object: string; gcs?: unknown; s3?: unknown; caBundle?: unknown }>({
  message: 'gcs goes with gs:// objects, s3 with s3:// objects, and caBundle with either',
  cel: `(!has(self.gcs) || self.object.startsWith('gs://')) && (!has(self.s3) || self.object.startsWith('s3://')) && (!has(self.caBundle) || !self.object.startsWith('pvc://'))`,
  holds: ({ object: name, gcs, s3, caBundle }) =>
    (gcs === undefined || name.startsWith('gs://')) &&
    (s3 === undefined || name.startsWith('s3://')) &&
    (caBundle === undefined || !name.startsWith('pvc://')),
});

function settings<T extends TProperties>(properties: T, { rules = [], ...options }: Options) {
  return object({ ...properties, ...access }, { ...options, rules: [settingsOfTheScheme, ...rules] });
}

/** What is written: the object's name is a template. */
export const backupTargetSchema = settings(
  {
    object: text(1024, {
      minLength: 1,
      description:
        'The name of each object, like gs://bucket/{{namespace}}/{{cluster}}/{{timestamp}}.db. Also s3://, and pvc://<PersistentVolumeClaim>/… Variables: namespace, cluster, name, uid, timestamp.',
      rules: named(
        wholeTemplate,
        'must be the name of an object like gs://bucket/{{namespace}}/{{cluster}}/{{timestamp}}.db',
        parseObjectTemplate,
      ),
    }),
    compression: Type.Optional(
      Type.Enum(['None', 'Gzip', 'Zstd'], {
        default: storeDefaults.compression,
        description: 'Restoring finds out by itself.',
      }),
    ),
  },
  { description: 'Where backups go, and with what credentials.' },
);

/** What is read: one object, by its whole name. */
export const snapshotSourceSchema = settings(
  {
    object: text(1024, {
      minLength: 1,
      description: 'The whole name of the object, like gs://bucket/payments/orders/20261122T230000Z.db.',
      rules: named(
        wholeLocation,
        'must be the whole name of an object like gs://bucket/payments/orders/20261122T230000Z.db',
        parseLocation,
      ),
    }),
    sha256: Type.Optional(
      text(64, {
        description: 'Of the object as it is stored, as sha256sum prints it. Any other object is refused.',
        rules: [sha256Digest],
      }),
    ),
    revision: Type.Optional(
      int64({
        minimum: 1,
        description: 'Of a backup, as its record says it. A backup of another revision is refused.',
      }),
    ),
  },
  { description: 'Where the snapshot is, and with what credentials.' },
);

/** In place of the object itself. */
export const backupNameSchema = text(253, {
  minLength: 1,
  description: 'An EtcdBackup of the same namespace, with its credentials. It must be Ready.',
  rules: [objectName],
});

export type BackupTarget = ReadonlyDeep<Static<typeof backupTargetSchema>>;
export type SnapshotSource = ReadonlyDeep<Static<typeof snapshotSourceSchema>>;
