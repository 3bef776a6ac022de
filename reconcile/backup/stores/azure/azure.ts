/** Azure Blob Storage. Loaded lazily as a whole, as the clients of all object stores are. */

import { randomUUID } from 'node:crypto';
import { type BlobItem, BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { firstAbort } from '../../../../manifests/abort-after.ts';
import { BackupFailure } from '../../../jobs/failure.ts';
import { missing, type StoreCall } from '../failures.ts';
import { cutBody, sendParts } from '../parts.ts';
import { putOnce } from '../put-once.ts';
import type { Store, StoredObject, StoreOptions } from '../store.ts';
import { nextPage, patiently, resumed } from '../transfer.ts';
import { azureFailure, isMissingBlob } from './azure-failures.ts';

export interface AzureSettings {
  readonly account: string;
  /** The account's own, or that of another cloud or of an emulator, where the account may be a part of its path. */
  readonly endpoint: string;
  readonly credentials: { readonly accountKey: string } | { readonly sasToken: string };
}

/** One block, in bytes: sent, and sent again where it was lost, as one. 50,000 make an object of 244 GiB. */
const partSize = 5 * 1024 * 1024;
const mostParts = 50_000;

/** In between, up to 8 s. */
const retryOptions = { maxTries: 6, retryDelayInMs: 500, maxRetryDelayInMs: 8000 };

/** By which an upload whose answer was lost knows its own object. */
const nonceKey = 'ratchetupload';

/** A name that is free, or nothing is made. */
const free = { ifNoneMatch: '*' };

export function openAzure(containerName: string, { account, endpoint, credentials }: AzureSettings): Store {
  const place = `azure://${containerName}`;
  const base = endpoint.replace(/\/+$/, '');
  const service =
    'accountKey' in credentials
      ? new BlobServiceClient(base, new StorageSharedKeyCredential(account, credentials.accountKey), { retryOptions })
      : new BlobServiceClient(`${base}?${credentials.sasToken.replace(/^\?/, '')}`, undefined, { retryOptions });
  const container = service.getContainerClient(containerName);
  return { place, put, read, list, stat, delete: remove, close: () => undefined };

  async function put(name: string, body: AsyncIterable<Uint8Array>, { signal }: StoreOptions): Promise<StoredObject> {
    const nonce = randomUUID();
    const blob = container.getBlockBlobClient(name);
    const options = { metadata: { [nonceKey]: nonce }, conditions: free };
    const upload = async () => {
      await using cut = await cutBody(body, partSize);
      const { whole } = cut;
      if (whole !== undefined) {
        await ask(name, 'put', signal, (abortSignal) => blob.upload(whole, whole.length, { ...options, abortSignal }));
        return;
      }
      // Blocks that no list names are gone after a week; nothing tells Azure to drop them before.
      const limit = { most: mostParts, tooMany: () => tooLarge(name) };
      const blocks = await sendParts(cut, limit, async (part, number) => {
        const id = Buffer.from(`${nonce}-${String(number).padStart(6, '0')}`).toString('base64');
        await ask(name, 'put', signal, (abortSignal) => blob.stageBlock(id, part, part.length, { abortSignal }));
        return id;
      });
      await ask(name, 'put', signal, (abortSignal) => blob.commitBlockList([...blocks], { ...options, abortSignal }));
    };
    return putOnce({ at: `${place}/${name}`, nonce, details: () => details(name, signal), upload });
  }

  function read(name: string, { signal }: StoreOptions): AsyncIterable<Uint8Array> {
    let object: StoredObject | undefined;
    return resumed({
      what: `${place}/${name}`,
      signal,
      failureOf: (error) => azureFailure(error, { place, name, call: 'read' }),
      open: async function* (from) {
        object ??= await stat(name, { signal });
        if (object === undefined) throw missing(`${place}/${name}`);
        if (from >= object.bytes) return;
        const conditions = { ifMatch: quoted(object.version) };
        // What breaks off is resumed here, not by the client.
        const options = { conditions, abortSignal: signal, maxRetryRequests: 0 };
        const { readableStreamBody } = await container.getBlobClient(name).download(from, undefined, options);
        if (readableStreamBody) yield* readableStreamBody as AsyncIterable<Uint8Array>;
      },
    });
  }

  async function* list(prefix: string, { signal }: StoreOptions): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const { segment, continuationToken } = await ask(prefix, 'list', signal, async (abortSignal) => {
        const pages = container.listBlobsFlat({ prefix, abortSignal });
        const { value } = await pages.byPage({ maxPageSize: 1000, ...(token && { continuationToken: token }) }).next();
        return value;
      });
      for (const item of segment.blobItems) yield listed(item);
      token = nextPage(continuationToken || undefined, token, place);
    } while (token !== undefined);
  }

  async function stat(name: string, { signal }: StoreOptions): Promise<StoredObject | undefined> {
    return (await details(name, signal))?.object;
  }

  async function details(name: string, signal: AbortSignal) {
    const found = await ask(name, 'stat', signal, (abortSignal) =>
      container
        .getBlobClient(name)
        .getProperties({ abortSignal })
        .catch((error: unknown) => {
          if (isMissingBlob(error)) return undefined;
          throw error;
        }),
    );
    if (found === undefined) return undefined;
    const { contentLength = 0, etag = '', lastModified = new Date(0), metadata = {} } = found;
    const { legalHold, immutabilityPolicyExpiresOn } = found;
    const lockedUntil: StoredObject['lockedUntil'] = legalHold === true ? 'held' : immutabilityPolicyExpiresOn;
    const object = {
      ...{ name, bytes: contentLength, version: unquoted(etag), modifiedAt: lastModified },
      ...(lockedUntil && { lockedUntil }),
    };
    return { object, nonce: metadata[nonceKey] };
  }

  async function remove(
    { name, version }: Pick<StoredObject, 'name' | 'version'>,
    { signal }: StoreOptions,
  ): Promise<void> {
    // Of what is not there, a condition says the same as of what was replaced.
    if ((await stat(name, { signal })) === undefined) return;
    const conditions = { ifMatch: quoted(version) };
    await ask(name, 'delete', signal, (abortSignal) =>
      container
        .getBlobClient(name)
        .delete({ conditions, abortSignal })
        .catch((error: unknown) => {
          if (!isMissingBlob(error)) throw error;
        }),
    );
  }

  /** The client itself waits for an answer without end. */
  async function ask<T>(
    name: string,
    call: StoreCall['call'],
    signal: AbortSignal,
    send: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const given = new AbortController();
    try {
      return await patiently(send(firstAbort(signal, given.signal)), `${place}/${name}`);
    } catch (error) {
      signal.throwIfAborted();
      throw azureFailure(error, { place, name, call });
    } finally {
      // What was given up ends, and nothing of a call stays on the signal of them all.
      given.abort();
    }
  }

  function tooLarge(name: string): BackupFailure {
    return new BackupFailure(
      'StoreRefused',
      `${place}/${name} would be larger than ${Math.floor((partSize * mostParts) / 1024 ** 3)} GiB: compress it`,
    );
  }
}

function listed({ name, properties: { contentLength = 0, etag, lastModified } }: BlobItem): StoredObject {
  return { name, bytes: contentLength, version: unquoted(etag), modifiedAt: lastModified };
}

/** Lists give ETags without quotes, all else with them. */
function unquoted(etag: string): string {
  return etag.replace(/^"(.*)"$/, '$1');
}

function quoted(version: string): string {
  return `"${version}"`;
}
