import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { type Egress, refusalOf, strictEgress } from '../../../manifests/egress/egress.ts';
import { endpointNamed } from '../../../manifests/egress/stores.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { ignoreMissing } from './files.ts';
import { guardConnections } from './guard.ts';
import type { ObjectRequest } from './request.ts';
import type { Store } from './store.ts';
import { trustAlso } from './trust.ts';

/**
 * The store of one location. Where its author names a host, the installation's word on hosts goes for every connection,
 * until the store is closed.
 *
 * @throws {BackupFailure}
 */
export async function openStore(
  location: ObjectLocation,
  settings: ObjectRequest['store'] = {},
  egress: Egress = strictEgress,
): Promise<Store> {
  const endpoint = endpointNamed(location, settings);
  if (endpoint === undefined) return openAt(location, settings);
  refuseHost(endpoint, withSecret(settings), egress);
  const guard = guardConnections(egress);
  try {
    const store = await openAt(location, settings);
    const refused = guard.refused.then(({ message }) => {
      throw new BackupFailure('HostRefused', message);
    });
    // Not everyone waits for it.
    refused.catch(() => undefined);
    return {
      ...store,
      refused,
      close: () => {
        store.close();
        guard[Symbol.dispose]();
      },
    };
  } catch (error) {
    guard[Symbol.dispose]();
    throw error;
  }
}

/** Each is loaded only where it is used: the clients of object stores are large. */
async function openAt(
  { scheme, bucket }: ObjectLocation,
  settings: NonNullable<ObjectRequest['store']>,
): Promise<Store> {
  const place = `${scheme}://${bucket}`;
  if (settings.caFile !== undefined) await trustAlso(settings.caFile);
  switch (scheme) {
    case 'pvc': {
      const { openDirectory } = await import('./stores/directory.ts');
      return openDirectory(settings.directory ?? '', place);
    }
    case 'gs': {
      const { openGcs } = await import('./stores/gcs.ts');
      return openGcs(bucket, settings.gcs);
    }
    case 's3': {
      const { credentialsDirectory, ...rest } = settings.s3 ?? {};
      const credentials = credentialsDirectory === undefined ? undefined : await readKey(credentialsDirectory);
      const { openS3 } = await import('./stores/s3.ts');
      return openS3(bucket, { ...rest, ...(credentials && { credentials }) });
    }
  }
}

/** Without a key, clients use the pod's identity. */
function withSecret({ gcs, s3 }: NonNullable<ObjectRequest['store']>): boolean {
  return gcs ? !gcs.anonymous : s3?.credentialsDirectory !== undefined;
}

/**
 * Before a credential is read: by plain HTTP, everyone on the way would see it, or what it opens.
 *
 * @throws {BackupFailure} PlainHttpRefused, HostRefused
 */
function refuseHost(endpoint: string, secret: boolean, egress: Egress): void {
  const url = URL.parse(endpoint);
  if (!url) throw new BackupFailure('InvalidRequest', `the endpoint ${endpoint} is no URL`);
  const refused = refusalOf(url, secret, egress);
  if (!refused) return;
  if (refused.reason === 'HostRefused') throw new BackupFailure('HostRefused', refused.message);
  throw new BackupFailure(
    'PlainHttpRefused',
    `${url.origin} is plain HTTP, and credentials are not sent there: use https://, or list its host in RATCHET_PLAIN_HTTP_HOSTS of ConfigMap etcd-ratchet-settings in this namespace`,
  );
}

async function readKey(directory: string) {
  const read = async (name: string) => (await readFile(join(directory, name), 'utf8').catch(ignoreMissing))?.trim();
  const accessKeyId = await read('access-key-id');
  const secretAccessKey = await read('secret-access-key');
  const sessionToken = await read('session-token');
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  throw new BackupFailure(
    'Forbidden',
    `${directory} does not hold access-key-id and secret-access-key: mount a Secret with both keys`,
  );
}
