import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { isListed, readHosts } from '../../../manifests/render/listed-hosts.ts';
import { BackupFailure } from './failure.ts';
import { ignoreMissing } from './files.ts';
import type { ObjectRequest } from './request.ts';
import type { Store } from './store.ts';
import { trustAlso } from './trust.ts';

/** The store of one location. Each is loaded only where it is used: the clients of object stores are large. */
export async function openStore(
  { scheme, bucket }: ObjectLocation,
  settings: ObjectRequest['store'] = {},
  plainHttpHosts?: string,
): Promise<Store> {
  const place = `${scheme}://${bucket}`;
  refusePlainHttp(settings, plainHttpHosts);
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

/**
 * Before a credential is read: by plain HTTP, everyone on the way would see it, or what it opens.
 *
 * @throws {BackupFailure} PlainHttpRefused
 */
function refusePlainHttp({ gcs, s3 }: NonNullable<ObjectRequest['store']>, plainHttpHosts: string | undefined): void {
  const withSecret = [
    ...(gcs?.endpoint !== undefined && !gcs.anonymous ? [gcs.endpoint] : []),
    ...(s3?.endpoint !== undefined && s3.credentialsDirectory !== undefined ? [s3.endpoint] : []),
  ];
  const { patterns } = readHosts(plainHttpHosts);
  for (const endpoint of withSecret) {
    const url = URL.parse(endpoint);
    if (url?.protocol === 'https:' || (url && isListed(patterns, url))) continue;
    throw new BackupFailure(
      'PlainHttpRefused',
      `${url?.origin ?? 'the endpoint'} is plain HTTP, and credentials are not sent there: use https://, or list its host in RATCHET_PLAIN_HTTP_HOSTS of ConfigMap etcd-ratchet-settings in this namespace`,
    );
  }
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
