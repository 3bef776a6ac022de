/** What the agent takes of memory does not depend on how much it moves. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { agentRun } from '../../../manifests/render/agent-container.ts';
import { s3Secret, startFakeGcs, startVersity } from './emulators.ts';
import { type Place, temporary } from './members.ts';

/** More than this is not due to what is kept, in MiB: the collector comes when it likes. */
const slack = 24;
const child = join(import.meta.dirname, 'memory-child.ts');

async function peak(prefix: string, store: unknown, mebibytes: number): Promise<number> {
  const request = {
    operation: 'fetch',
    object: `${prefix}${mebibytes}.db`,
    store,
    deadlineSeconds: 100,
    file: '/none',
  };
  const args = [...agentRun.options, child, JSON.stringify(request), String(mebibytes)];
  const env = { PATH: process.env.PATH, ...Object.fromEntries(agentRun.env.map(({ name, value }) => [name, value])) };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const said = JSON.parse(stdout) as { readonly bytes: number; readonly mebibytes: number };
  assert.equal(said.bytes, mebibytes * 1024 * 1024 + 32);
  return said.mebibytes;
}

async function flat(prefix: string, store: unknown, small: number, large: number): Promise<void> {
  const least = await peak(prefix, store, small);
  const most = await peak(prefix, store, large);
  console.log(`${prefix} ${small} MiB took ${least} MiB, ${large} MiB took ${most} MiB`);
  assert.ok(most < least + slack, `${small} MiB took ${least} MiB, ${large} MiB took ${most} MiB`);
}

test('512 MiB into a directory take no more memory than 64 MiB', async () => {
  await using place = await temporary();
  await flat('pvc://backups/', { directory: place.path }, 64, 512);
});

test('512 MiB into S3 take no more memory than 64 MiB', async () => {
  await using s3 = await startVersity();
  await using place = await temporary();
  const credentialsDirectory = await keyIn(place);
  await flat('s3://backups/', { s3: { endpoint: s3.url, region: 'eu-test-1', credentialsDirectory } }, 64, 512);
});

test('96 MiB into Google Cloud Storage take no more memory than 32 MiB', async () => {
  // Not more: for each chunk the emulator reads all again that it has.
  await using gcs = await startFakeGcs();
  await flat('gs://backups/', { gcs: { endpoint: gcs.url, anonymous: true } }, 32, 96);
});

async function keyIn({ path }: Place): Promise<string> {
  const directory = join(path, 'key');
  await mkdir(directory);
  await writeFile(join(directory, 'access-key-id'), 'access');
  await writeFile(join(directory, 'secret-access-key'), s3Secret);
  return directory;
}
