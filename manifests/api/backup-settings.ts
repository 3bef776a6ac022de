import Type, { type Static, type TProperties } from 'typebox';
import {
  claimStores,
  exampleBucket,
  networkStores,
  otherSchemesText,
  schemes,
  storeFields,
  stores,
} from '../stores/stores.ts';
import { objectName, sha256Digest } from './common-rules.ts';
import { parseLocation, parseObjectTemplate } from './object-template.ts';
import { celEscape, matching, type Rule, rule } from './rule.ts';
import { int64, type Options, object, type ReadonlyDeep, text } from './schema.ts';
import { storeDefaults } from './spec-defaults.ts';

/**
 * Where a backup is, and with what credentials: the same fields in every kind. Secrets are of the resource's namespace,
 * and offered by a label; they are mounted into the agent's pod, and etcd-ratchet reads their metadata only.
 */

const templateExample = `${exampleBucket}/{{namespace}}/{{cluster}}/{{timestamp}}.db`;
const locationExample = `${exampleBucket}/payments/orders/20261122T230000Z.db`;

const variable = '[{][{] *(namespace|cluster|name|uid|timestamp) *[}][}]';
const part = '[A-Za-z0-9._=+@,:-]';
const bucket = `(${schemes.map((scheme) => `${scheme}://${stores[scheme].bucket.pattern}`).join('|')})`;
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
  ...storeFields('settings', { Type, object, text }),
  caBundle: Type.Optional(
    object(
      {
        secretName: secret('A Secret that holds it. It needs the label etcd.ratchet.dev/for-backups=true.'),
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
        recipientsSecretName: secret(
          'A Secret with recipients.txt, public keys of age, one a line: what encrypts. It needs the label etcd.ratchet.dev/for-backups=true.',
        ),
        identitySecretName: secret(
          'A Secret with identity.txt, private keys of age, one a line: what decrypts. It needs the label etcd.ratchet.dev/for-backups=true.',
        ),
      },
      { description: 'By age, in the pod, before anything is sent.' },
    ),
  ),
  serviceAccountName: Type.Optional(
    text(253, {
      description:
        "The pod's service account, where it bears an identity of the cloud. It needs the label etcd.ratchet.dev/for-backups=true. Absent: default.",
      rules: [objectName],
    }),
  ),
} as const;

type Fields = Readonly<Record<string, unknown>> & { readonly object: string };

const matches = networkStores.map(({ field, scheme }, index) =>
  [field, ...(index === 0 ? ['goes'] : []), `with ${scheme}:// objects`].join(' '),
);

const settingsOfTheScheme = rule<Fields>({
  message: `${matches.join(', ')}, and caBundle with any of these`,
  cel: [
    ...networkStores.map(({ field, scheme }) => `(!has(self.${field}) || self.object.startsWith('${scheme}://'))`),
    ...claimStores.map(({ scheme }) => `(!has(self.caBundle) || !self.object.startsWith('${scheme}://'))`),
  ].join(' && '),
  holds: (value) =>
    networkStores.every(({ field, scheme }) => value[field] === undefined || value.object.startsWith(`${scheme}://`)) &&
    claimStores.every(({ scheme }) => value.caBundle === undefined || !value.object.startsWith(`${scheme}://`)),
});

const neededSettings = networkStores
  .filter(({ needsField }) => needsField)
  .map(({ field, scheme }) =>
    rule<Fields>({
      message: `${scheme}:// objects need ${field}`,
      cel: `!self.object.startsWith('${scheme}://') || has(self.${field})`,
      holds: (value) => !value.object.startsWith(`${scheme}://`) || value[field] !== undefined,
    }),
  );

function settings<T extends TProperties>(properties: T, { rules = [], ...options }: Options) {
  return object(
    { ...properties, ...access },
    { ...options, rules: [settingsOfTheScheme, ...neededSettings, ...rules] },
  );
}

/** A target that is written: the object's name is a template. */
export const backupTargetSchema = settings(
  {
    object: text(1024, {
      minLength: 1,
      description: `The name of each object, like ${templateExample}. Also ${otherSchemesText()} Variables: namespace, cluster, name, uid, timestamp.`,
      rules: named(wholeTemplate, `must be the name of an object like ${templateExample}`, parseObjectTemplate),
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

/** A source that is read: one object, by its whole name. */
export const snapshotSourceSchema = settings(
  {
    object: text(1024, {
      minLength: 1,
      description: `The whole name of the object, like ${locationExample}.`,
      rules: named(wholeLocation, `must be the whole name of an object like ${locationExample}`, parseLocation),
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
