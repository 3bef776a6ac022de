/** S3, and what speaks like it. Loaded lazily as a whole: the client takes 0.2 s. */

import { createHash, randomUUID } from 'node:crypto';
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
import { abortAfter } from '../../../../manifests/abort-after.ts';
import { BackupFailure } from '../../../jobs/failure.ts';
import { isLocked, locked, missing, replaced } from '../failures.ts';
import { forToken } from '../guard.ts';
import { type Cut, cutBody, sendParts } from '../parts.ts';
import { existsAlready, putOnce } from '../put-once.ts';
import type { Store, StoredObject, StoreOptions } from '../store.ts';
import { nextPage, resumed } from '../transfer.ts';
import { s3Failure, statusOf, wantsDigest } from './s3-failures.ts';

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
 * Sent, and if lost sent again, as a whole: the least that S3 takes, in bytes. At most 10,000 parts make an object of
 * 48 GiB, and etcd advises against more than 8 GiB.
 */
const partSize = 5 * 1024 * 1024;
const mostParts = 10_000;

/** How often a request is sent before it is given up; in between, up to 20 s. */
const maxAttempts = 8;

/** By which an upload whose answer was lost knows its own object. */
const nonceKey = 'ratchet-upload';

export function openS3(bucket: string, settings: S3Settings = {}): Store {
  const place = `s3://${bucket}`;
  const { endpoint, region = 'us-east-1', pathStyle = endpoint !== undefined, credentials } = settings;
  const client = new S3Client({
    ...(endpoint && { endpoint }),
    credentials: credentials ?? ofPod(region),
    region,
    forcePathStyle: pathStyle,
    maxAttempts,
    // Stores that resemble S3 refuse the newer checksums; a part is covered by its signature as it is.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
  });
  let sendsDigests = false;
  return { place, put, read, list, stat, delete: remove, close: () => client.destroy() };

  async function put(name: string, body: AsyncIterable<Uint8Array>, { signal }: StoreOptions): Promise<StoredObject> {
    const at = `${place}/${name}`;
    const nonce = randomUUID();
    const upload = async () => {
      await using cut = await cutBody(body, partSize);
      if (cut.whole !== undefined) await putWhole(name, cut.whole, nonce, signal);
      else await putParts(name, cut, nonce, signal);
    };
    return putOnce({ at, nonce, details: () => details(name, signal), upload });
  }

  async function putWhole(name: string, body: Uint8Array, nonce: string, signal: AbortSignal): Promise<void> {
    const common = { Bucket: bucket, Key: name, Body: body, Metadata: { [nonceKey]: nonce } };
    await conditionally((condition) =>
      ask(name, 'put', signal, (options) =>
        withDigest(body, (digest) =>
          client.send(new PutObjectCommand({ ...common, ...condition, ...digest }), options),
        ),
      ),
    );
  }

  async function putParts(name: string, cut: Cut, nonce: string, signal: AbortSignal): Promise<void> {
    const at = { Bucket: bucket, Key: name };
    const created = await ask(name, 'put', signal, (options) =>
      client.send(new CreateMultipartUploadCommand({ ...at, Metadata: { [nonceKey]: nonce } }), options),
    );
    const upload = { ...at, UploadId: created.UploadId };
    try {
      const limit = { most: mostParts, tooMany: () => tooLarge(name) };
      const Parts = await sendParts(cut, limit, async (Body, PartNumber) => {
        const { ETag } = await ask(name, 'put', signal, (options) =>
          withDigest(Body, (digest) =>
            client.send(new UploadPartCommand({ ...upload, PartNumber, Body, ...digest }), options),
          ),
        );
        return { ETag, PartNumber };
      });
      // Some stores take the condition below and pass over it.
      if ((await details(name, signal)) !== undefined) throw existsAlready(`${place}/${name}`);
      const complete = { ...upload, MultipartUpload: { Parts: [...Parts] } };
      await conditionally((condition) =>
        ask(name, 'put', signal, (options) =>
          client.send(new CompleteMultipartUploadCommand({ ...complete, ...condition }), options),
        ),
      );
    } catch (error) {
      // With a signal of its own: what is told to stop must not leave parts that cost money.
      await client
        .send(new AbortMultipartUploadCommand(upload), { abortSignal: abortAfter(10_000) })
        .catch(() => undefined);
      throw error;
    }
  }

  /**
   * A bucket that locks what it takes wants a digest beside the signature (PutObject, Content-MD5), and other stores
   * refuse one: the first refusal tells.
   */
  async function withDigest<T>(body: Uint8Array, send: (digest: { ContentMD5?: string }) => Promise<T>): Promise<T> {
    if (!sendsDigests) {
      try {
        return await send({});
      } catch (error) {
        if (!wantsDigest(error)) throw error;
      }
    }
    const sent = await send({ ContentMD5: createHash('md5').update(body).digest('base64') });
    sendsDigests = true;
    return sent;
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
        if (object === undefined) throw missing(`${place}/${name}`);
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
      const lockedUntil: StoredObject['lockedUntil'] =
        found.ObjectLockLegalHoldStatus === 'ON' ? 'held' : found.ObjectLockRetainUntilDate;
      return {
        object: {
          ...{ name, bytes: ContentLength, version: ETag, modifiedAt: LastModified },
          ...(lockedUntil && { lockedUntil }),
        },
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
    if (stored.version !== version) throw replaced(`${place}/${name}`);
    try {
      await ask(name, 'delete', signal, (options) =>
        client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }), options),
      );
    } catch (error) {
      // Where the bucket keeps versions, a locked one gets a marker, and nothing is refused.
      const isRefused = error instanceof BackupFailure && error.reason === 'Forbidden';
      throw isRefused && isLocked(stored, new Date()) ? locked(`${place}/${name}`, stored.lockedUntil) : error;
    }
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

  function tooLarge(name: string): BackupFailure {
    return new BackupFailure(
      'StoreRefused',
      `${place}/${name} would be larger than ${(partSize * mostParts) / 1024 ** 3} GiB: compress it`,
    );
  }
}

/** What the client would find by itself, as a role of the pod: the request for it is told from all others. */
function ofPod(region: string): () => Promise<AwsCredentialIdentity> {
  const { credentials } = new S3Client({ region }).config;
  return () => forToken(() => credentials());
}

type AwsCredentialIdentity = Awaited<ReturnType<S3Client['config']['credentials']>>;

function itself(error: unknown): unknown {
  return error;
}
