import { httpUrl, objectName } from '../api/common-rules.ts';
import { matching } from '../api/rule.ts';
import { networkStore, type SchemaTools } from './store-kind.ts';

/** Azure Blob Storage. */
export const azure = networkStore({
  reach: 'network',
  bucket: { pattern: '[a-z0-9][a-z0-9-]{1,61}[a-z0-9]', words: 'a container (3 to 63 of a-z, 0-9, "-")' },
  field: 'azure',
  needsField: true,
  settings,
  request,
  secretVolume: 'azure-credentials',
  secretName: ({ azure }) => azure?.credentialsSecretName,
  secretKeys: { needed: [], optional: ['account-key', 'sas-token'] },
  ask: ({ azure }, files) => {
    if (azure === undefined || files === undefined) return {};
    const { account, endpoint } = azure;
    return { azure: { account, credentialsDirectory: files, ...(endpoint !== undefined && { endpoint }) } };
  },
  ownEndpoints:
    /^[a-z0-9-]+(\.[a-z0-9-]+)?\.blob\.(core\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net)|storage\.azure\.net)$/,
  sendsSecret: () => true,
  // What the Secret holds tells: a shared access signature is one, and an account's key stays here.
  sendsToken: () => false,
});

function settings({ Type, object, text }: SchemaTools) {
  return object(
    {
      account: text(24, {
        description: 'The storage account.',
        rules: [matching('^[a-z0-9]{3,24}$', 'must be the name of a storage account: 3 to 24 of a-z, 0-9')],
      }),
      credentialsSecretName: text(253, {
        description:
          "A Secret with account-key, the account's key, or with sas-token, a shared access signature. It needs the label etcd.ratchet.dev/for-backups=true.",
        rules: [objectName],
      }),
      endpoint: Type.Optional(
        text(1024, {
          description: "In place of https://<account>.blob.core.windows.net, as of another cloud of Azure's.",
          rules: [httpUrl],
        }),
      ),
    },
    { description: 'Of azure:// objects.' },
  );
}

function request({ Type, object, text }: SchemaTools) {
  return object({
    account: text(24),
    credentialsDirectory: text(1024, { minLength: 1, description: 'account-key or sas-token.' }),
    endpoint: Type.Optional(text(1024, { description: "In place of the account's own." })),
  });
}
