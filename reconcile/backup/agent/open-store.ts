import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectLocation } from '../../../manifests/api/object-template.ts';
import { BackupFailure } from './failure.ts';
import { ignoreMissing } from './files.ts';
import type { ObjectRequest } from './request.ts';
import type { Store } from './store.ts';
import { trustAlso } from './trust.ts';

/** The store of one location. Each is loaded only where it is used: the clients of object stores are large. */
export async function openStore(
  { scheme, bucket }: ObjectLocation,
  settings: ObjectRequest['store'] = {},
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
