/**
 * The agent's process, killed at every request that it sends: what is left is never taken for a backup unless it is
 * one.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRecord } from '../../../reconcile/backup/agent/record.ts';
import type { AgentResult } from '../../../reconcile/backup/agent/result.ts';
import { openGcs } from '../../../reconcile/backup/stores/gcs/gcs.ts';
import { openS3 } from '../../../reconcile/backup/stores/s3/s3.ts';
import type { Store } from '../../../reconcile/backup/stores/store.ts';
import { until } from '../../e2e/support/until.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { localSettings } from '../../support/network.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { bucket, s3Secret, startFakeGcs, startVersity } from './emulators.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { agent, fill, sha256, temporary } from './members.ts';
import { limited, listed, whole } from './store-contract.ts';

const version = '3.6.16';
const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();
const programs = { etcd: etcds[version], etcdutl: etcdutls[version] };
const entry = join(import.meta.dirname, '../../../functions/backup.ts');

function start(request: unknown): ChildProcess {
  const script = `const { main } = await import(${JSON.stringify(entry)}); process.exitCode = await main(process.env);`;
  const env = { ...localSettings, PATH: process.env.PATH, RATCHET_BACKUP_REQUEST: JSON.stringify(request) };
  return spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** A store behind the proxy, as the agent is told of it, and as the test looks at it. */
interface Behind extends AsyncDisposable {
  readonly settings: object;
  readonly look: Store;
}

const stores = {
  s3: async (proxy: FaultProxy, directory: string): Promise<Behind> => {
    const s3 = await startVersity();
    proxy.target = s3.url;
    await writeFile(join(directory, 'access-key-id'), 'access');
    await writeFile(join(directory, 'secret-access-key'), s3Secret);
    const region = 'eu-test-1';
    const credentials = { accessKeyId: 'access', secretAccessKey: s3Secret };
    return {
      settings: { s3: { endpoint: proxy.url, region, credentialsDirectory: directory } },
      look: openS3(bucket, { endpoint: s3.url, region, credentials }),
      [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose](),
    };
  },
  gs: async (proxy: FaultProxy): Promise<Behind> => {
    const gcs = await startFakeGcs(proxy.url);
    proxy.target = gcs.url;
    return {
      settings: { gcs: { endpoint: proxy.url, anonymous: true } },
      look: openGcs(bucket, { endpoint: gcs.url, anonymous: true }),
      [Symbol.asyncDispose]: () => gcs[Symbol.asyncDispose](),
    };
  },
};

for (const [scheme, open] of Object.entries(stores)) {
  test(`an agent that is killed at any request to ${scheme}:// leaves nothing wrongly taken for a backup`, async () => {
    await using place = await temporary();
    await using proxy = await startFaultProxy();
    await using behind = await open(proxy, place.path);
    await killedAtEveryRequest(scheme, proxy, behind);
  });
}

async function killedAtEveryRequest(scheme: string, proxy: FaultProxy, { settings, look: store }: Behind) {
  await using cluster = await startMembers(programs.etcd, 1);
  const endpoint = cluster.members[0]?.clientUrl ?? '';
  await fill(endpoint, 40, 250_000);
  const request = (name: string) => ({
    operation: 'backup',
    id: name,
    object: `${scheme}://${bucket}/killed/${name}.db`,
    store: settings,
    source: { endpoints: [endpoint] },
    deadlineSeconds: 60,
  });

  let finished = false;
  let killed = 0;
  for (let at = 0; !finished; at++) {
    assert.ok(at < 40, 'the agent sends ever more requests');
    const child = start(request(`at-${at}`));
    const ended = once(child, 'close');
    let seen = 0;
    // Before the store sees the request in one half of the runs, and once it has it in the other.
    proxy.fault = () => {
      if (seen++ !== at) return 'pass';
      child.kill('SIGKILL');
      return at % 2 === 0 ? { status: 503 } : 'pass';
    };
    const [code, signal] = (await ended) as [number | null, string | null];
    finished = signal === null;
    if (!finished) killed += 1;
    else assert.equal(code, 0);
  }
  proxy.fault = () => 'pass';
  assert.ok(killed >= 8, `it was killed ${killed} times`);

  const objects = await listed(store, 'killed/');
  const names = objects.map(({ name }) => name).filter((name) => name.endsWith('.db'));
  let backups = 0;
  for (const name of names) {
    const record = await readRecord(store, name, limited());
    const bytes = await whole(store.read(name, limited()));
    // Under its name there is never a torn one, with or without its record.
    assert.equal(bytes.length % 512, 32, name);
    if (record === undefined) continue;
    backups += 1;
    assert.deepEqual([record.bytes, record.sha256], [bytes.length, sha256(bytes)], name);
  }
  assert.ok(backups >= 1 && backups < killed, `${backups} backups of ${killed} kills`);
  const records = objects.map(({ name }) => name).filter((name) => name.endsWith('.json'));
  assert.deepEqual(
    records.filter((name) => !names.includes(name.replace(/\.json$/, ''))),
    [],
  );
  store.close();
}

test('an agent that is killed while it writes, or told to stop, leaves no object', async () => {
  await using cluster = await startMembers(programs.etcd, 1);
  await using place = await temporary();
  const endpoint = cluster.members[0]?.clientUrl ?? '';
  await fill(endpoint, 120, 500_000);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const directory = join(place.path, signal);
    await mkdir(directory);
    const child = start({
      operation: 'backup',
      id: signal,
      object: 'pvc://backups/a.db',
      store: { directory },
      source: { endpoints: [endpoint] },
      compression: 'gzip',
      deadlineSeconds: 60,
    });
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(child, 'close');
    await until('an upload that is under way', async () => (await readdir(directory)).length > 0, { every: 1 });
    child.kill(signal);
    await ended;
    assert.deepEqual(
      (await readdir(directory)).filter((name) => !name.includes('.partial-')),
      [],
    );
    if (signal === 'SIGKILL') continue;
    const result = JSON.parse(said) as AgentResult;
    assert.deepEqual([result.ok, result.reason, result.retry, child.exitCode], [false, 'Stopped', true, 1]);
    assert.deepEqual(await readdir(directory), []);
  }
});

test('a stored snapshot that was cut off or has a flipped bit is caught by both ways to verify', async () => {
  await using cluster = await startMembers(programs.etcd, 1);
  await using place = await temporary();
  const endpoint = cluster.members[0]?.clientUrl ?? '';
  await fill(endpoint, 4, 10_000);
  const common = { object: 'pvc://backups/a.db', store: { directory: place.path } };
  const taken = await agent({ ...common, operation: 'backup', id: 'a', source: { endpoints: [endpoint] } });
  assert.equal(taken.message, undefined);
  const path = join(place.path, 'a.db');
  const bytes = await readFile(path);
  const spoil: readonly [string, () => Promise<void>][] = [
    ['flipped', () => writeByte(path, 5000, (bytes[5000] ?? 0) ^ 4)],
    ['cut off', () => writeFile(path, bytes.subarray(0, bytes.length - 1000))],
    ['cut off by whole pages', () => writeFile(path, bytes.subarray(0, bytes.length - 4096))],
  ];
  for (const [how, change] of spoil) {
    await change();
    const fetched = await agent({ ...common, operation: 'fetch', file: join(place.path, 'fetched.db') });
    assert.deepEqual([fetched.ok, fetched.exitCode], [false, 4], how);
    const scratch = { directory: join(place.path, 'scratch'), ...programs };
    const drilled = await agent({ ...common, operation: 'verify', scratch });
    assert.deepEqual([drilled.ok, drilled.exitCode], [false, 4], how);
    await writeFile(path, bytes);
    assert.equal((await agent({ ...common, operation: 'verify', scratch })).message, undefined);
  }
});

async function writeByte(path: string, at: number, value: number): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(Buffer.from([value]), 0, 1, at);
  await file.close();
}
