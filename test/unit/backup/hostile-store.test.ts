import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { fetchSnapshot } from '../../../reconcile/backup/agent/fetch.ts';
import { findOwnBackups } from '../../../reconcile/backup/agent/own-backups.ts';
import { type BackupRecord, readRecord } from '../../../reconcile/backup/agent/record.ts';
import { isProofOf } from '../../../reconcile/backup/agent/verified.ts';
import { openGcs } from '../../../reconcile/backup/stores/gcs/gcs.ts';
import { openS3 } from '../../../reconcile/backup/stores/s3/s3.ts';
import type { Store } from '../../../reconcile/backup/stores/store.ts';

const signal = AbortSignal.timeout(60_000);
const piece = Buffer.alloc(64 * 1024, ' ');
const location = { scheme: 'gs', bucket: 'backups', path: 'a.db' } as const;

const record: BackupRecord = {
  ...{ format: 1, id: 'a', object: 'gs://backups/a.db', bytes: 1000, sha256: 'ab'.repeat(32), version: '1' },
  ...{ snapshot: { bytes: 1000, sha256: 'ab'.repeat(32) }, compression: 'none', encryption: 'none' },
  ...{ etcdVersion: '3.6.16', clusterId: 'c', memberId: 'm', revision: 1, revisionAtMost: 1, hashKV: null },
  ...{ takenAt: '2026-11-24T00:00:00Z', tookMs: 1 },
};

/** Says of each object that it is small, and counts the bytes that are taken of it. */
function lying(contents: (name: string) => Iterable<Uint8Array>): Store & { taken: number } {
  const store = {
    place: 'gs://backups',
    taken: 0,
    stat: async (name: string) => ({ name, bytes: 100, version: '1', modifiedAt: new Date(0) }),
    read: async function* (name: string) {
      for (const chunk of contents(name)) {
        store.taken += chunk.length;
        yield chunk;
      }
    },
    put: () => Promise.reject(new Error('not asked')),
    list: () => assert.fail('not asked'),
    delete: () => Promise.reject(new Error('not asked')),
    close: () => undefined,
  };
  return store;
}

/** As good as. */
function* endless() {
  for (let n = 0; n < 1000; n++) yield piece;
}

test('a record, and a proof, that never end are not read further than they may be long', async () => {
  const store = lying(() => endless());
  await assert.rejects(readRecord(store, 'a.db', { signal }), { reason: 'StoreRefused' });
  assert.ok(store.taken <= 2 * piece.length, `${store.taken} bytes`);
  store.taken = 0;
  assert.equal(await isProofOf(store, 'a.db', record, { signal }), false);
  assert.ok(store.taken <= 2 * piece.length, `${store.taken} bytes`);
});

const stored = { name: 'a.db', bytes: 100, version: '1', modifiedAt: new Date(0) };
const archive = zstdCompressSync(Buffer.alloc(256 * 1024 ** 2));
const compressed: BackupRecord = {
  ...record,
  bytes: archive.length,
  compression: 'zstd',
  sha256: hash('sha256', archive),
};

for (const [what, beside, object, told] of [
  ['an object that never ends', record, () => endless(), 'more than the 1000 bytes that are recorded'],
  [
    'an archive of many times its size',
    compressed,
    () => [archive],
    'more in it than the 1000 bytes that are recorded',
  ],
] as const)
  test(`${what} fills no volume beyond what its record says`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'hostile-'));
    const text = Buffer.from(JSON.stringify(beside));
    const store = lying((name) => (name.endsWith('.json') ? [text] : object()));
    const asked = { location, file: join(directory, 'snapshot.db') };
    await assert.rejects(fetchSnapshot(asked, { store, signal }), (error: Error) => {
      assert.match(error.message, new RegExp(`gs://backups/a.db has ${told}: it was changed`));
      return true;
    });
    const { size } = await stat(join(directory, '.fetching-snapshot.db'));
    assert.ok(size < 1024 ** 2, `${size} bytes`);
    await rm(directory, { recursive: true });
  });

for (const [what, object] of [
  ['an object that never ends', endless],
  ['an archive of many times its size', () => [archive]],
] as const)
  test(`${what}, without a record, takes no more than half of what is free`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'hostile-'));
    const store = { ...lying(object), stat: async (name: string) => (name.endsWith('.json') ? undefined : stored) };
    const asked = { location, file: join(directory, 'snapshot.db') };
    const freeIn = async () => 8 * 1024 ** 2;
    await assert.rejects(fetchSnapshot(asked, { store, signal, freeIn }), { reason: 'Full' });
    const { size } = await stat(join(directory, '.fetching-snapshot.db'));
    assert.ok(size > 2 * 1024 ** 2 && size <= 4 * 1024 ** 2, `${size} bytes`);
    await rm(directory, { recursive: true });
  });

test('a list that gives one name without end is given up', async () => {
  const one = { name: 'a.db', bytes: 1, version: '1', modifiedAt: new Date(0) };
  const names = async function* () {
    for (let n = 0; n < 300_000; n++) yield one;
  };
  const store = { ...lying(() => []), list: names };
  const asked = findOwnBackups(store, { location, schedule: 'of-ours' }, { signal });
  await assert.rejects(asked, { reason: 'TooMany' });
});

for (const [scheme, page, open] of [
  [
    's3',
    '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>',
    (endpoint: string) =>
      openS3('backups', { endpoint, credentials: { accessKeyId: 'access', secretAccessKey: 'key' } }),
  ],
  [
    'gs',
    JSON.stringify({ kind: 'storage#objects', nextPageToken: 'x', items: [] }),
    (endpoint: string) => openGcs('backups', { endpoint, anonymous: true }),
  ],
] as const)
  test(`a ${scheme}:// store that leads from a page of its list to the same one is given up`, async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.setHeader('content-type', scheme === 's3' ? 'application/xml' : 'application/json');
      response.end(asked < 10 ? page : undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const store = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await assert.rejects(Array.fromAsync(store.list('a', { signal })), { reason: 'StoreRefused' });
    assert.equal(asked, 2);
    store.close();
    server.closeAllConnections();
    server.close();
  });
