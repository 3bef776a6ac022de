import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { until } from '../../e2e/support/until.ts';
import { tools } from '../../support/cluster/tools.ts';
import { temporary } from './members.ts';

/**
 * Object stores that we did not write, each a process with one bucket, `backups`: on loopback, or on an address that
 * pods of the local cluster reach.
 */
export interface Emulator extends AsyncDisposable {
  readonly url: string;
}

export const bucket = 'backups';

/** Files of PEM. */
export interface ServerFiles {
  readonly cert: string;
  readonly key: string;
}

export async function startFakeGcs(externalUrl?: string, host = '127.0.0.1', tls?: ServerFiles): Promise<Emulator> {
  const { 'fake-gcs-server': binary } = await tools.emulators.provide();
  const place = await temporary();
  const port = await freePort(host);
  const scheme = tls ? 'https' : 'http';
  const url = `${scheme}://${host}:${port}`;
  // By default it sends clients to itself for the rest of an upload, past a proxy.
  const child = spawn(
    binary,
    [
      `-scheme=${scheme}`,
      ...(tls ? [`-cert-location=${tls.cert}`, `-private-key-location=${tls.key}`] : []),
      `-host=${host}`,
      `-port=${port}`,
      '-backend=filesystem',
      `-filesystem-root=${place.path}`,
      `-external-url=${externalUrl ?? url}`,
      '-log-level=error',
    ],
    { stdio: 'ignore' },
  );
  await until('fake-gcs-server', async () => {
    const body = JSON.stringify({ name: bucket });
    const headers = { 'content-type': 'application/json' };
    const status = await answerOf(`${url}/storage/v1/b?project=p`, { method: 'POST', headers }, body);
    return status >= 200 && status < 300;
  });
  return { url, [Symbol.asyncDispose]: () => end(child, place) };
}

export const s3Secret = 'the-secret-access-key';

/** It wants a file system with extended attributes, or a directory of its own for them. */
export async function startVersity(host = '127.0.0.1', tls?: ServerFiles): Promise<Emulator> {
  const { versitygw: binary } = await tools.emulators.provide();
  const place = await temporary();
  const port = await freePort(host);
  const url = `${tls ? 'https' : 'http'}://${host}:${port}`;
  const [root, sidecar] = [join(place.path, 'root'), join(place.path, 'sidecar')];
  await mkdir(join(root, bucket), { recursive: true });
  await mkdir(sidecar);
  const child = spawn(
    binary,
    [
      '--access=access',
      `--secret=${s3Secret}`,
      `--port=${host}:${port}`,
      '--region=eu-test-1',
      '--quiet',
      ...(tls ? [`--cert=${tls.cert}`, `--key=${tls.key}`] : []),
      'posix',
      `--sidecar=${sidecar}`,
      root,
    ],
    { stdio: 'ignore' },
  );
  await until('versitygw', async () => (await answerOf(url, {})) > 0);
  return { url, [Symbol.asyncDispose]: () => end(child, place) };
}

export const azureAccount = 'devstoreaccount1';
/** Published, as the only one that the emulator takes. */
export const azureKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** The URL names the account. */
export async function startAzurite(host = '127.0.0.1', tls?: ServerFiles): Promise<Emulator> {
  const script = await tools.azurite.provide();
  const place = await temporary();
  const port = await freePort(host);
  const url = `${tls ? 'https' : 'http'}://${host}:${port}/${azureAccount}`;
  const child = spawn(
    process.execPath,
    [
      script,
      `--blobHost=${host}`,
      `--blobPort=${port}`,
      `--location=${place.path}`,
      '--silent',
      '--disableTelemetry',
      '--skipApiVersionCheck',
      ...(tls ? [`--cert=${tls.cert}`, `--key=${tls.key}`] : []),
    ],
    { stdio: 'ignore' },
  );
  await until('azurite', async () => (await answerOf(url, {})) > 0);
  const service = new BlobServiceClient(url, new StorageSharedKeyCredential(azureAccount, azureKey));
  if (!tls) await service.createContainer(bucket);
  return { url, [Symbol.asyncDispose]: () => end(child, place) };
}

/** Whatever it shows: a test's own client, which only waits until it listens. */
async function answerOf(url: string, options: RequestOptions, body = ''): Promise<number> {
  const ask = url.startsWith('https:') ? httpsRequest : httpRequest;
  const sent = ask(url, { ...options, rejectUnauthorized: false });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

async function end(child: ChildProcess, place: AsyncDisposable): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  await place[Symbol.asyncDispose]();
}
