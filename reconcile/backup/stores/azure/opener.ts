import { BackupFailure } from '../../../jobs/failure.ts';
import type { Opener } from '../opener.ts';
import { readSecret } from '../read-secret.ts';

export const azure: Opener<'azure'> = {
  open: async (container, { azure: settings }, { assertToken }) => {
    if (settings === undefined)
      throw new BackupFailure('InvalidRequest', `store.azure is missing for azure://${container}`);
    const { account, credentialsDirectory, endpoint = `https://${account}.blob.core.windows.net` } = settings;
    const credentials = await readCredentials(credentialsDirectory);
    if ('sasToken' in credentials) assertToken();
    const { openAzure } = await import('./azure.ts');
    return openAzure(container, { account, endpoint, credentials });
  },
  ownHosts: () => ({ vendor: [], identity: [] }),
};

async function readCredentials(directory: string) {
  const keys = await readSecret(directory, ['account-key', 'sas-token']);
  const { 'account-key': accountKey, 'sas-token': sasToken } = keys;
  if (accountKey) return { accountKey };
  if (sasToken) return { sasToken };
  throw new BackupFailure(
    'Forbidden',
    `${directory} holds neither account-key nor sas-token: mount a Secret with one of them`,
  );
}
