/** S3, and what speaks like it. Loaded lazily as a whole: the client takes 0.2 s. */

import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { BackupFailure } from '../../../jobs/failure.ts';
import { partsOf } from '../../agent/parts.ts';
import type { Store, StoredObject, StoreOptions } from '../store.ts';
import { nextPage, resumed } from '../transfer.ts';
import { s3Failure, statusOf } from './s3-failures.ts';

export interface S3Settings {
  /** In place of Amazon's, as of MinIO or Ceph. */
  readonly endpoint?: string;
  readonly region?: string;
  /** `https://host/bucket/…` in place of `https://bucket.host/…`. */
  readonly pathStyle?: boolean;
  /** Without it: whatever the environment offers, as a role of the pod's service account. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/**
 * Sent, and sent again where it was lost, as one: the least that S3 takes, in bytes. At most 10,000 make an object of
 * 48 GiB, and etcd advises against more than 8 GiB.
 */
const partSize = 5 * 1024 * 1024;
const mostParts = 10_000;
/** On their way at a time, while one more is filled. */
const underWay = 2;

/** How often a request is sent before it is given up; in between, up to 20 s. */
const maxAttempts = 8;

/** By which an upload whose answer was lost knows its own object. */
const nonceKey = 'ratchet-upload';

export function openS3(bucket: string, settings: S3Settings = {}): Store {
  const place = `s3://${bucket}`;
  const { endpoint, region = 'us-east-1', pathStyle = endpoint !== undefined, credentials } = settings;
  const client = new S3Client({
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials }),
    region,
    forcePathStyle: pathStyle,
    maxAttempts,
    // Stores that resemble S3 refuse the newer checksums; a part is covered by its signature as it is.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
  });
  return { place, put, read, list, stat, delete: remove, close: () => client.destroy() };

  async function put(name: string, body: AsyncIterable<Uint8Array>, { signal }: StoreOptions): Promise<StoredObject> {
    const nonce = randomUUID();
    const free = async () => {
      // Some stores take a precondition and pass over it: there, this is what keeps an object.
      if ((await details(name, signal)) !== undefined) throw exists(name);
    };
    await free();
    const spare: Uint8Array[] = [];
    const parts = partsOf(body, partSize, spare);
    const first = await parts.next();
    const second = first.done ? first : await parts.next();
    const whole = second.done ? (first.value ?? new Uint8Array(0)) : undefined;
    try {
      if (whole !== undefined) await putWhole(name, whole, nonce, signal);
      else await putParts(name, [first.value, second.value], parts, { nonce, signal, free, spare });
    } catch (error) {
      // The answer to our own last request may have been lost, and the next one says that the name is taken.
      const taken =
        error instanceof BackupFailure && error.reason === 'Exists' ? await details(name, signal) : undefined;
      if (taken === undefined || taken.nonce !== nonce) throw error;
    } finally {
      await parts.return(undefined);
    }
    const stored = await details(name, signal);
    if (stored?.nonce === nonce) return stored.object;
    throw new BackupFailure(
      'Changed',
      `${place}/${name} was deleted or replaced as soon as it was stored: look at what else writes there`,
    );
  }

  async function putWhole(name: string, body: Uint8Array, nonce: string, signal: AbortSignal): Promise<void> {
    const common = { Bucket: bucket, Key: name, Body: body, Metadata: { [nonceKey]: nonce } };
    await conditionally((condition) =>
      ask(name, 'put', signal, (options) => client.send(new PutObjectCommand({ ...common, ...condition }), options)),
    );
  }

  async function putParts(
    name: string,
    begun: readonly (Uint8Array | undefined)[],
    rest: AsyncIterable<Uint8Array>,
    {
      nonce,
      signal,
      free,
      spare,
    }: {
      readonly nonce: string;
      readonly signal: AbortSignal;
      readonly free: () => Promise<void>;
      readonly spare: Uint8Array[];
    },
  ): Promise<void> {
    const at = { Bucket: bucket, Key: name };
    const created = await ask(name, 'put', signal, (options) =>
      client.send(new CreateMultipartUploadCommand({ ...at, Metadata: { [nonceKey]: nonce } }), options),
    );
    const upload = { ...at, UploadId: created.UploadId };
    try {
      const sent: Promise<{ ETag: string | undefined; PartNumber: number }>[] = [];
      const send = async (Body: Uint8Array, PartNumber: number) => {
        const { ETag } = await ask(name, 'put', signal, (options) =>
          client.send(new UploadPartCommand({ ...upload, PartNumber, Body }), options),
        );
        if (Body.length === partSize) spare.push(Body);
        return { ETag, PartNumber };
      };
      for await (const part of joined(begun, rest)) {
        if (sent.length === mostParts) throw tooLarge(name);
        const sending = send(part, sent.length + 1);
        // It is awaited below; until then, it must not count as unhandled.
        sending.catch(() => undefined);
        sent.push(sending);
        await sent.at(-underWay);
      }
      const Parts = await Promise.all(sent);
      await free();
      const complete = { ...upload, MultipartUpload: { Parts } };
      await conditionally((condition) =>
        ask(name, 'put', signal, (options) =>
          client.send(new CompleteMultipartUploadCommand({ ...complete, ...condition }), options),
        ),
      );
    } catch (error) {
      // With a signal of its own: what is told to stop must not leave parts that cost money.
      await client
        .send(new AbortMultipartUploadCommand(upload), { abortSignal: AbortSignal.timeout(10_000) })
        .catch(() => undefined);
      throw error;
    }
  }

  /** The name is free, or nothing is made. Where a store knows no such condition, the look before it has to do. */
  async function conditionally(send: (condition: { IfNoneMatch?: '*' }) => Promise<unknown>): Promise<void> {
    try {
      await send({ IfNoneMatch: '*' });
    } catch (error) {
      if (!(error instanceof BackupFailure && error.reason === 'StoreRefused' && error.cause === 501)) throw error;
      await send({});
    }
  }

  function read(name: string, { signal }: StoreOptions): AsyncIterable<Uint8Array> {
    let object: StoredObject | undefined;
    return resumed({
      what: `${place}/${name}`,
      signal,
      failureOf: (error) => s3Failure(error, { place, name, call: 'read', region }),
      open: async function* (from) {
        object ??= await stat(name, { signal });
        if (object === undefined) throw missing(name);
        if (from >= object.bytes) return;
        const range = { Range: `bytes=${from}-`, IfMatch: object.version };
        const { Body } = await ask(name, 'read', signal, (options) =>
          client.send(new GetObjectCommand({ Bucket: bucket, Key: name, ...range }), options),
        );
        yield* Body as unknown as AsyncIterable<Uint8Array>;
      },
    });
  }

  async function* list(prefix: string, { signal }: StoreOptions): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const query = { Bucket: bucket, Prefix: prefix, ...(token && { ContinuationToken: token }) };
      const page = await ask(prefix, 'list', signal, (options) =>
        client.send(new ListObjectsV2Command(query), options),
      );
      for (const { Key, Size, ETag, LastModified } of page.Contents ?? [])
        if (Key !== undefined)
          yield { name: Key, bytes: Size ?? 0, version: ETag ?? '', modifiedAt: LastModified ?? new Date(0) };
      token = page.IsTruncated ? nextPage(page.NextContinuationToken, token, place) : undefined;
    } while (token !== undefined);
  }

  async function stat(name: string, { signal }: StoreOptions): Promise<StoredObject | undefined> {
    return (await details(name, signal))?.object;
  }

  async function details(name: string, signal: AbortSignal) {
    try {
      const found = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: name }), { abortSignal: signal });
      const { ContentLength = 0, ETag = '', LastModified = new Date(0), Metadata = {} } = found;
      return {
        object: { name, bytes: ContentLength, version: ETag, modifiedAt: LastModified },
        nonce: Metadata[nonceKey],
      };
    } catch (error) {
      signal.throwIfAborted();
      if (statusOf(error) === 404) return undefined;
      // An answer to HEAD has no body, so it can't say why. The same question by GET can.
      const why = statusOf(error) === 400 ? await client.send(get(name), { abortSignal: signal }).catch(itself) : error;
      throw s3Failure(why, { place, name, call: 'stat', region });
    }
  }

  function get(name: string): GetObjectCommand {
    return new GetObjectCommand({ Bucket: bucket, Key: name, Range: 'bytes=0-0' });
  }

  async function remove(
    { name, version }: Pick<StoredObject, 'name' | 'version'>,
    { signal }: StoreOptions,
  ): Promise<void> {
    const stored = await stat(name, { signal });
    if (stored === undefined) return;
    // Not every store knows a condition for this: what is looked at here is what there is.
    if (stored.version !== version)
      throw new BackupFailure('Changed', `${place}/${name} is not deleted: it was replaced since it was listed`);
    await ask(name, 'delete', signal, (options) =>
      client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }), options),
    );
  }

  async function ask<T>(
    name: string,
    call: 'put' | 'read' | 'list' | 'delete',
    signal: AbortSignal,
    send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    try {
      return await send({ abortSignal: signal });
    } catch (error) {
      signal.throwIfAborted();
      throw s3Failure(error, { place, name, call, region });
    }
  }

  function exists(name: string): BackupFailure {
    return new BackupFailure(
      'Exists',
      `${place}/${name} exists already, and a backup replaces nothing: choose another name, as by {{timestamp}}`,
    );
  }

  function missing(name: string): BackupFailure {
    return new BackupFailure('NotFound', `there is no ${place}/${name}: look for its name in the status of the backup`);
  }

  function tooLarge(name: string): BackupFailure {
    return new BackupFailure(
      'StoreRefused',
      `${place}/${name} would be larger than ${(partSize * mostParts) / 1024 ** 3} GiB: compress it`,
    );
  }
}

async function* joined(
  begun: readonly (Uint8Array | undefined)[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const part of begun) if (part !== undefined) yield part;
  yield* rest;
}

function itself(error: unknown): unknown {
  return error;
}
