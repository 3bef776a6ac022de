import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Storage } from '@google-cloud/storage';
import { bucket, s3Secret, startFakeGcs, startVersity } from '../integration/backup/emulators.ts';
import type { StoreName } from './options.ts';

const run = promisify(execFile);

/** A store as the agent is told of it, and how a person would bring one file there and back. */
export interface BenchStore extends AsyncDisposable {
  readonly name: string;
  /** What the names of its objects begin with. */
  readonly prefix: string;
  /** For the agent's request. */
  readonly settings: object;
  readonly uploads: readonly Upload[];
  download(name: string, file: string): Promise<void>;
}

interface Upload {
  readonly how: string;
  put(file: string, name: string): Promise<void>;
}

const mebibyte = 1024 ** 2;
/** As the agent sends to Google Cloud Storage. */
const chunkSize = 8 * mebibyte;

/** Each with a process and files of its own below `directory`, or in the directory of temporary files. */
export const benchStores = {
  directory: { open: openVolume, isQuadratic: false },
  s3: { open: openS3, isQuadratic: false },
  gcs: { open: openGcs, isQuadratic: true },
} as const satisfies Readonly<Record<StoreName, StoreKind>>;

export interface StoreKind {
  readonly open: (directory: string) => Promise<BenchStore>;
  /** It copies and hashes all that it has for each further chunk: large uploads measure nothing but that. */
  readonly isQuadratic: boolean;
}

async function openVolume(directory: string): Promise<BenchStore> {
  const root = join(directory, 'volume');
  await mkdir(root);
  const put = async (file: string, name: string) => {
    await run('cp', [file, join(root, name)]);
    await run('sync', [join(root, name)]);
  };
  return {
    name: 'a directory',
    prefix: `pvc://${bucket}/`,
    settings: { directory: root },
    uploads: [{ how: 'cp and sync', put }],
    download: (name, file) => copyFile(join(root, name), file),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function openGcs(): Promise<BenchStore> {
  const emulator = await startFakeGcs();
  const storage = new Storage({ apiEndpoint: emulator.url, useAuthWithCustomEndpoint: false, projectId: 'bench' });
  const there = storage.bucket(bucket);
  const upload = (options: object) => async (file: string, destination: string) => {
    await there.upload(file, { destination, ...options });
  };
  return {
    name: 'fake-gcs-server',
    prefix: `gs://${bucket}/`,
    settings: { gcs: { endpoint: emulator.url, anonymous: true } },
    uploads: [
      { how: `the same SDK in chunks of ${chunkSize / mebibyte} MiB`, put: upload({ resumable: true, chunkSize }) },
      { how: 'the same SDK in one request', put: upload({ resumable: false }) },
    ],
    download: async (name, file) => {
      await there.file(name).download({ destination: file });
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  };
}

async function openS3(directory: string): Promise<BenchStore> {
  const emulator = await startVersity();
  const credentialsDirectory = join(directory, 'key');
  await mkdir(credentialsDirectory);
  await writeFile(join(credentialsDirectory, 'access-key-id'), 'access');
  await writeFile(join(credentialsDirectory, 'secret-access-key'), s3Secret);
  const region = 'eu-test-1';
  const client = new S3Client({
    endpoint: emulator.url,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: 'access', secretAccessKey: s3Secret },
  });
  const put = async (file: string, Key: string) => {
    const { size: ContentLength } = await stat(file);
    await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: createReadStream(file), ContentLength }));
  };
  const putParts = async (file: string, Key: string) => {
    const at = { Bucket: bucket, Key };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
    const Parts: { readonly PartNumber: number; readonly ETag: string | undefined }[] = [];
    await using handle = await open(file);
    const { size } = await handle.stat();
    for (let from = 0; from < size; from += chunkSize) {
      const PartNumber = Parts.length + 1;
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(chunkSize), 0, chunkSize, from);
      const Body = buffer.subarray(0, bytesRead);
      const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ETag });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  };
  return {
    name: 'versitygw',
    prefix: `s3://${bucket}/`,
    settings: { s3: { endpoint: emulator.url, region, credentialsDirectory } },
    uploads: [
      { how: 'the same SDK in one request', put },
      { how: `the same SDK in parts of ${chunkSize / mebibyte} MiB, one by one`, put: putParts },
    ],
    download: async (Key, file) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
      if (!(Body instanceof Readable)) throw new TypeError(`${Key} has no body`);
      await pipeline(Body, createWriteStream(file));
    },
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await emulator[Symbol.asyncDispose]();
    },
  };
}
