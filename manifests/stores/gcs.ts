import { httpUrl, objectName } from '../api/common-rules.ts';
import { storeDefaults } from '../api/spec-defaults.ts';
import { networkStore, type SchemaTools } from './store-kind.ts';

/** Google Cloud Storage. */
export const gcs = networkStore({
  reach: 'network',
  bucket: { pattern: '[a-z0-9][a-z0-9_.-]{1,61}[a-z0-9]', words: 'a bucket (3 to 63 of a-z, 0-9, "-", "_", ".")' },
  field: 'gcs',
  needsField: false,
  settings,
  request,
  secretVolume: 'gcs-key',
  secretName: ({ gcs: { keySecretName } = {} }) => keySecretName,
  secretNamesHosts: true,
  secretKeys: { needed: ['key.json'] },
  ask: ({ gcs: { endpoint, authentication } = {} }, files) => ({
    gcs: {
      ...(endpoint !== undefined && { endpoint }),
      ...(authentication === 'Anonymous' && { anonymous: true }),
      ...(files !== undefined && { keyFile: `${files}/key.json` }),
    },
  }),
  ownEndpoints: /(^|\.)googleapis\.com$/,
  // Without a key, the client uses the pod's identity; with one, a token that it got for the key.
  sendsSecret: ({ gcs: { anonymous } = {} }) => anonymous !== true,
  sendsToken: ({ gcs: { anonymous } = {} }) => anonymous !== true,
  renamed: { anonymous: 'authentication: Anonymous for true, Default for false' },
});

function settings({ Type, object, text }: SchemaTools) {
  return object(
    {
      keySecretName: Type.Optional(
        text(253, {
          description:
            "A Secret with key.json, a service account's key; it needs the label etcd.ratchet.dev/for-backups=true. Absent: workload identity.",
          rules: [objectName],
        }),
      ),
      endpoint: Type.Optional(text(1024, { description: "In place of Google's.", rules: [httpUrl] })),
      authentication: Type.Optional(
        Type.Enum(['Default', 'Anonymous'], {
          default: storeDefaults.authentication,
          description: 'Default: with the key, or by workload identity. Anonymous: no credentials are sent.',
        }),
      ),
    },
    { description: 'Of gs:// objects.' },
  );
}

function request({ Type, object, text }: SchemaTools) {
  return object({
    keyFile: Type.Optional(
      text(1024, { minLength: 1, description: "A service account's JSON key. Without it: workload identity." }),
    ),
    endpoint: Type.Optional(text(1024, { description: "In place of Google's." })),
    anonymous: Type.Optional(Type.Boolean({ description: 'Send no credentials to that endpoint.' })),
  });
}
