import { httpUrl, objectName } from '../api/common-rules.ts';
import { matching } from '../api/rule.ts';
import { networkStore, type SchemaTools } from './store-kind.ts';

/** Amazon S3, and what speaks like it. */
export const s3 = networkStore({
  reach: 'network',
  bucket: { pattern: '[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]', words: 'a bucket (3 to 63 of a-z, 0-9, "-", ".")' },
  field: 's3',
  needsField: false,
  settings,
  request,
  secretVolume: 's3-credentials',
  secretName: ({ s3: { credentialsSecretName } = {} }) => credentialsSecretName,
  secretKeys: { needed: ['access-key-id', 'secret-access-key'], optional: ['session-token'] },
  ask: ({ s3: { endpoint, region, addressing } = {} }, files) => ({
    s3: {
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
      ...(addressing !== undefined && { pathStyle: addressing === 'Path' }),
      ...(files !== undefined && { credentialsDirectory: files }),
    },
  }),
  // Anyone may have a load balancer or a machine below amazonaws.com.
  ownEndpoints: /(^|\.)s3(-fips)?(\.dualstack)?([.-][a-z]{2}(-[a-z]+)+-\d)?(\.vpce)?\.amazonaws\.com(\.cn)?$/,
  sendsSecret: ({ s3: { credentialsDirectory } = {} }) => credentialsDirectory !== undefined,
  // A key signs each request and stays here.
  sendsToken: ({ s3: { credentialsDirectory } = {} }) => credentialsDirectory === undefined,
  renamed: { pathStyle: 'addressing: Path for true, VirtualHost for false' },
});

function settings({ Type, object, text }: SchemaTools) {
  return object(
    {
      credentialsSecretName: Type.Optional(
        text(253, {
          description:
            "A Secret with access-key-id, secret-access-key and, if there is one, session-token; it needs the label etcd.ratchet.dev/for-backups=true. Absent: the pod's role.",
          rules: [objectName],
        }),
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
  );
}

function request({ Type, object, text }: SchemaTools) {
  return object({
    endpoint: Type.Optional(text(1024, { description: "In place of Amazon's." })),
    region: Type.Optional(text(64)),
    pathStyle: Type.Optional(Type.Boolean({ description: 'Default: true with an endpoint.' })),
    credentialsDirectory: Type.Optional(
      text(1024, {
        minLength: 1,
        description: 'access-key-id, secret-access-key and maybe session-token. Without it: a role of the pod.',
      }),
    ),
  });
}
