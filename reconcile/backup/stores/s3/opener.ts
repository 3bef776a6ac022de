import { BackupFailure } from '../../../jobs/failure.ts';
import type { Opener } from '../opener.ts';
import { readSecret } from '../read-secret.ts';

export const s3: Opener<'s3'> = {
  open: async (bucket, { s3: { credentialsDirectory, ...settings } = {} }) => {
    const credentials = credentialsDirectory === undefined ? undefined : await readKey(credentialsDirectory);
    const { openS3 } = await import('./s3.ts');
    return openS3(bucket, { ...settings, ...(credentials && { credentials }) });
  },
  ownHosts: ({ s3: { credentialsDirectory } = {} }) => ({
    vendor: [
      { host: 'amazonaws.com', below: true },
      { host: 'amazonaws.com.cn', below: true },
    ],
    identity: credentialsDirectory === undefined ? podIdentity : [],
  }),
};

/** Of a node, of ECS, and of EKS; the first and the last by IPv6 as well. */
const podIdentity = ['169.254.169.254', '169.254.170.2', '169.254.170.23', 'fd00:ec2::254', 'fd00:ec2::23'];

async function readKey(directory: string) {
  const {
    'access-key-id': accessKeyId,
    'secret-access-key': secretAccessKey,
    'session-token': sessionToken,
  } = await readSecret(directory, ['access-key-id', 'secret-access-key', 'session-token']);
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  throw new BackupFailure(
    'Forbidden',
    `${directory} does not hold access-key-id and secret-access-key: mount a Secret with both keys`,
  );
}
