import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openAzure } from '../../../reconcile/backup/stores/azure/azure.ts';
import type { Store } from '../../../reconcile/backup/stores/store.ts';

const signal = AbortSignal.timeout(60_000);
const one = { name: 'a.db', version: '1' };

/** A store that answers every request with 404 and this code. */
async function answering(code: string, use: (store: Store) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => response.writeHead(404, { 'x-ms-error-code': code }).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/account`;
  const accountKey = Buffer.from('key').toString('base64');
  try {
    await use(openAzure('backups', { account: 'account', endpoint, credentials: { accountKey } }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a missing container of Azure is no missing object: it is neither absent nor deleted', async () => {
  await answering('ContainerNotFound', async (store) => {
    for (const call of [
      () => store.stat('a.db', { signal }),
      () => Array.fromAsync(store.read('a.db', { signal })),
      () => store.delete(one, { signal }),
    ])
      await assert.rejects(call, { reason: 'NoSuchBucket' });
  });
});

test('a missing object of Azure is absent, cannot be read, and counts as deleted', async () => {
  await answering('BlobNotFound', async (store) => {
    assert.equal(await store.stat('a.db', { signal }), undefined);
    await assert.rejects(Array.fromAsync(store.read('a.db', { signal })), { reason: 'NotFound' });
    await store.delete(one, { signal });
  });
});
