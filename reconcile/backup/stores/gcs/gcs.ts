/** Google Cloud Storage. Loaded lazily as a whole: the client takes 0.2 s. */

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type File, Storage } from '@google-cloud/storage';
import { PassThroughClient } from 'google-auth-library';
import { strictEgress } from '../../../../manifests/egress/egress.ts';
import { BackupFailure } from '../../../jobs/failure.ts';
import { kept } from '../../agent/kept.ts';
import { isLocked, locked, missing, replaced, type StoreCall } from '../failures.ts';
import type { Store, StoredObject, StoreOptions } from '../store.ts';
import { networkFailure, nextPage, patiently, resumed } from '../transfer.ts';
import { type GoogleAccess, GoogleCredentials } from './credentials.ts';

/**
 * Three pipelines of the client's libraries listen to an answer's body twelve times, whatever its size: Node would warn
 * of a leak from eleven on. A real leak still passes this.
 */
const mostListeners = 16;

export interface GcsSettings {
  /** A service account's key. Without it: workload identity. */
  readonly keyFile?: string;
  /** In place of Google's, as of a private endpoint or an emulator. */
  readonly endpoint?: string;
  /** With an endpoint: no credentials are sent. */
  readonly anonymous?: boolean;
}

/** Sent, and sent again where it was lost, as one. Bytes; a multiple of 256 KiB. The client holds up to two. */
const chunkSize = 8 * 1024 * 1024;

/** The client counts both over the whole upload, not over one chunk: a long one would end with its fourth hiccup. */
const uploadRetries = { maxRetries: 100, totalTimeout: 7 * 24 * 3600, maxRetryDelay: 10 };
const callRetries = { maxRetries: 4, totalTimeout: 60, maxRetryDelay: 10 };

/** By which an upload whose answer was lost knows its own object. */
const nonceKey = 'ratchet-upload';

type Interceptor = File['interceptors'][number];

/** For all requests of one upload. */
function bearing(token: string | null | undefined): Interceptor {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    request: (options) =>
      ({ ...options, headers: { ...options.headers, ...headers } }) as ReturnType<Interceptor['request']>,
  };
}

export function openGcs(
  bucketName: string,
  settings: GcsSettings = {},
  { readOnly = false, egress = strictEgress }: Partial<Pick<GoogleAccess, 'readOnly' | 'egress'>> = {},
): Store {
  setMaxListeners(mostListeners);
  const place = `gs://${bucketName}`;
  const authClient = settings.anonymous
    ? new PassThroughClient()
    : new GoogleCredentials({ keyFile: settings.keyFile, readOnly, egress });
  const common = {
    authClient,
    ...(settings.endpoint && {
      apiEndpoint: settings.endpoint,
      useAuthWithCustomEndpoint: settings.anonymous !== true,
    }),
    // The client would ask the metadata server for it, and no call here needs one.
    projectId: 'unused',
  };
  const uploads = new Storage({ ...common, retryOptions: uploadRetries }).bucket(bucketName);
  const calls = new Storage({ ...common, retryOptions: callRetries }).bucket(bucketName);
  // The client's streams upload without credentials to any endpoint but Google's, whatever it is told.
  const forgetsToken = settings.endpoint !== undefined && settings.anonymous !== true;
  let known: Promise<unknown> | undefined;
  return { place, put, read, list, stat, delete: remove, close: () => undefined };

  /** Credentials that are absent or wrong are told as such, before anything else may go wrong. */
  function credentials(): Promise<unknown> {
    if (settings.anonymous) return Promise.resolve();
    known ??= patiently(authClient.getAccessToken(), `the credentials for ${place}`).catch((error: unknown) => {
      throw error instanceof BackupFailure
        ? error
        : (networkFailure(error, 'the issuer of Google credentials') ?? noCredentials());
    });
    return known;
  }

  function noCredentials(): BackupFailure {
    const cure = settings.keyFile
      ? `see that the Secret holds the JSON key of a service account that exists (${settings.keyFile})`
      : "bind the pod's service account to a Google one (workload identity), or mount the JSON key of a service account";
    return new BackupFailure('Forbidden', `there are no valid credentials for ${place}: ${cure}`);
  }

  async function put(name: string, body: AsyncIterable<Uint8Array>, { signal }: StoreOptions): Promise<StoredObject> {
    await credentials();
    const nonce = randomUUID();
    const file = uploads.file(name);
    const contentType = name.endsWith('.json') ? 'application/json' : 'application/octet-stream';
    if (forgetsToken) file.interceptors.push(bearing((await authClient.getAccessToken()).token));
    const stream = file.createWriteStream({
      resumable: true,
      chunkSize,
      // The name is free, or nothing is made.
      preconditionOpts: { ifGenerationMatch: 0 },
      validation: 'crc32c',
      contentType,
      metadata: { metadata: { [nonceKey]: nonce } },
    });
    const ended = finished(stream, { signal });
    // It is awaited below; until then, it must not count as unhandled.
    ended.catch(() => undefined);
    let failed: { readonly error: unknown } | undefined;
    try {
      await send(
        kept(body, (error) => {
          failed = { error };
        }),
        stream,
        ended,
        `${place}/${name}`,
      );
    } catch (error) {
      stream.destroy();
      if (failed !== undefined) throw failed.error;
      signal.throwIfAborted();
      const failure = failureOf(error, name, 'put');
      // The answer to our own last chunk may have been lost, and the next one says that the name is taken.
      const found = failure instanceof BackupFailure && failure.reason === 'Exists' ? await details(name) : undefined;
      if (found === undefined || found.nonce !== nonce) throw failure;
    }
    const stored = await details(name);
    if (stored?.nonce === nonce) return stored.object;
    throw new BackupFailure(
      'Changed',
      `${place}/${name} was deleted or replaced as soon as it was stored: look at what else writes there`,
    );
  }

  function read(name: string, { signal }: StoreOptions): AsyncIterable<Uint8Array> {
    let object: StoredObject | undefined;
    return resumed({
      what: `${place}/${name}`,
      signal,
      failureOf: (error) => failureOf(error, name, 'read'),
      open: async function* (from) {
        await credentials();
        object ??= await stat(name);
        if (object === undefined) throw missing(`${place}/${name}`);
        // Of nothing, no range can be asked for.
        if (from >= object.bytes) return;
        const file = calls.file(name, { generation: object.version });
        // The digest is of the bytes as stored, and the client can't check it on a part of them.
        yield* file.createReadStream({
          start: from,
          decompress: false,
          validation: false,
        }) as AsyncIterable<Uint8Array>;
      },
    });
  }

  async function* list(prefix: string): AsyncGenerator<StoredObject> {
    await credentials();
    let pageToken: string | undefined;
    do {
      const query = { prefix, autoPaginate: false, maxResults: 1000, ...(pageToken && { pageToken }) };
      const [files, next] = await guarded(calls.getFiles(query), prefix, 'list');
      for (const file of files) yield objectOf(file.name, file.metadata);
      pageToken = nextPage((next as { readonly pageToken?: string } | null)?.pageToken, pageToken, place);
    } while (pageToken !== undefined);
  }

  async function stat(name: string): Promise<StoredObject | undefined> {
    await credentials();
    return (await details(name))?.object;
  }

  async function details(name: string) {
    try {
      const [metadata] = await patiently(calls.file(name).getMetadata(), `${place}/${name}`);
      const lockedUntil = lockOf(metadata);
      const object = { ...objectOf(name, metadata), ...(lockedUntil && { lockedUntil }) };
      return { object, nonce: metadata.metadata?.[nonceKey] };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw failureOf(error, name, 'stat');
    }
  }

  async function remove({ name, version }: Pick<StoredObject, 'name' | 'version'>): Promise<void> {
    const stored = await stat(name);
    if (stored === undefined) return;
    // The precondition decides; a store that resembles Google's may not know it.
    if (stored.version !== version) throw replaced(`${place}/${name}`);
    try {
      await patiently(calls.file(name).delete({ ifGenerationMatch: version }), `${place}/${name}`);
    } catch (error) {
      if (statusOf(error) === 404) return;
      if (statusOf(error) === 403 && isLocked(stored, new Date())) throw locked(`${place}/${name}`, stored.lockedUntil);
      throw failureOf(error, name, 'delete');
    }
  }

  async function guarded<T>(promise: Promise<T>, name: string, call: StoreCall['call']): Promise<T> {
    return patiently(promise, `${place}/${name}`).catch((error: unknown) => {
      throw failureOf(error, name, call);
    });
  }

  /** Without the client's error as its cause: the request's headers hang on it. */
  function failureOf(error: unknown, name: string, call: StoreCall['call']): unknown {
    if (error instanceof BackupFailure) return error;
    const at = `${place}/${name}`;
    const status = statusOf(error);
    if (status === 412 && call === 'put')
      return new BackupFailure(
        'Exists',
        `${at} exists already, and a backup replaces nothing: choose another name, as by {{timestamp}}`,
      );
    if (status === 412) return replaced(at);
    if (status === 404 && (call === 'put' || call === 'list'))
      return new BackupFailure('NoSuchBucket', `there is no bucket ${place}: create it, or correct its name`);
    if (status === 404) return missing(at);
    if (status === 401 || status === 403)
      return new BackupFailure(
        'Forbidden',
        `${at}: Google refuses to ${call} (${status}): grant the service account roles/storage.objectAdmin on the bucket, and see that its billing and quota are in order`,
      );
    if (status !== undefined && (status === 408 || status === 429 || status >= 500))
      return new BackupFailure(
        'Unreachable',
        `${at}: Google answers ${status} to ${call} again and again: try again later`,
      );
    if (status !== undefined && status < 400)
      return new BackupFailure(
        'StoreRefused',
        `${at}: the store sends us elsewhere (${status}): name the host itself as its endpoint`,
      );
    if (status !== undefined)
      return new BackupFailure(
        'StoreRefused',
        `${at}: Google refuses to ${call} (${status}): see that the bucket is as it should be`,
      );
    return networkFailure(error, place) ?? broken(error, at);
  }

  function broken(error: unknown, at: string): BackupFailure {
    const { name } = Object(error) as { readonly name?: unknown };
    return new BackupFailure(
      'Unreachable',
      `${at}: the transfer broke off (${typeof name === 'string' ? name : 'no reason given'}): try again`,
    );
  }
}

/** Only as fast as it is taken. */
async function send(
  body: AsyncIterable<Uint8Array>,
  stream: Writable,
  ended: Promise<void>,
  what: string,
): Promise<void> {
  for await (const chunk of body) {
    if (stream.write(chunk)) continue;
    const { promise: drained, resolve } = Promise.withResolvers<void>();
    stream.once('drain', resolve);
    await patiently(Promise.race([drained, ended]), what);
  }
  stream.end();
  await patiently(ended, what);
}

function objectOf(name: string, { size, generation, updated }: File['metadata']): StoredObject {
  return { name, bytes: Number(size), version: String(generation), modifiedAt: new Date(updated ?? 0) };
}

/** A hold that a person took, or the later of the bucket's policy and the object's own retention. */
function lockOf({
  temporaryHold,
  eventBasedHold,
  retentionExpirationTime,
  retention,
}: File['metadata']): StoredObject['lockedUntil'] {
  if (temporaryHold === true || eventBasedHold === true) return 'held';
  const times = [retentionExpirationTime, retention?.retainUntilTime].map((time) => Date.parse(time ?? ''));
  const last = Math.max(...times.filter((time) => !Number.isNaN(time)));
  return Number.isFinite(last) ? new Date(last) : undefined;
}

/** The client puts the HTTP status here or there. */
function statusOf(error: unknown): number | undefined {
  const { code, status, response } = Object(error) as {
    code?: unknown;
    status?: unknown;
    response?: { status?: unknown };
  };
  return [code, status, response?.status].map(Number).find((number) => number >= 300 && number < 600);
}
