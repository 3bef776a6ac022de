/** Azure's client against Azurite, also on bad days. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, describe, test } from 'node:test';
import {
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { openAzure } from '../../../reconcile/backup/stores/azure/azure.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { azureAccount as account, azureKey as accountKey, bucket, startAzurite } from './emulators.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { faultsContract } from './faults-contract.ts';
import { pruneContract } from './prune-contract.ts';
import { limited, pieces, reasonOf, storeContract, whole } from './store-contract.ts';

const credentials = { accountKey };

/** As `az storage container generate-sas` makes it. */
function sasFor(permissions: string, expiresOn = new Date(Date.now() + 3600_000)): string {
  const signed = { containerName: bucket, permissions: ContainerSASPermissions.parse(permissions), expiresOn };
  return generateBlobSASQueryParameters(signed, new StorageSharedKeyCredential(account, accountKey)).toString();
}

describe('Azure Blob Storage', async () => {
  const proxy = await startFaultProxy();
  const azurite = await startAzurite();
  proxy.target = azurite.url;
  after(async () => {
    await azurite[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  const endpoint = `${proxy.url}/${account}`;
  const open = () => openAzure(bucket, { account, endpoint, credentials });
  storeContract(open);
  pruneContract(open);
  faultsContract(() => proxy, open);

  test('a shared access signature stores, reads, lists and deletes', async () => {
    const store = openAzure(bucket, { account, endpoint, credentials: { sasToken: `?${sasFor('rcwdl')}` } });
    const stored = await store.put('sas/a.db', pieces(Buffer.from('snapshot')), limited());
    assert.equal(String(await whole(store.read('sas/a.db', limited()))), 'snapshot');
    assert.deepEqual(await Array.fromAsync(store.list('sas/', limited())), [stored]);
    await store.delete(stored, limited());
    assert.equal(await store.stat('sas/a.db', limited()), undefined);
  });

  test('a call that is over leaves nothing on the signal of the whole backup', async () => {
    const { signal } = new AbortController();
    const [store, name] = [open(), 'left/a.db'];
    const stored = await store.put(name, pieces(Buffer.alloc(11 * 1024 * 1024)), { signal });
    assert.deepEqual(await Array.fromAsync(store.list('left/', { signal })), [stored]);
    await store.delete(stored, { signal });
    assert.equal(await store.stat(name, { signal }), undefined);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  test('a missing container, wrong credentials and a dead endpoint are named, and no credential', async () => {
    const put = async (container: string, settings: Partial<Parameters<typeof openAzure>[1]>) => {
      const store = openAzure(container, { account, endpoint: azurite.url, credentials, ...settings });
      const failure = await store.put('a.db', pieces(Buffer.from('x')), limited()).catch((error: unknown) => error);
      assert.ok(failure instanceof BackupFailure, String(failure));
      assert.doesNotMatch(JSON.stringify([failure.message, failure.cause]), /sig=|SharedKey|Eby8vdM02/);
      return failure.reason;
    };
    assert.equal(await put('another', {}), 'NoSuchBucket');
    const wrong = Buffer.from('wrong').toString('base64');
    assert.equal(await put(bucket, { credentials: { accountKey: wrong } }), 'Forbidden');
    assert.equal(await put(bucket, { credentials: { sasToken: sasFor('rl') } }), 'Forbidden');
    const expired = sasFor('rcwdl', new Date(Date.now() - 60_000));
    assert.equal(await put(bucket, { credentials: { sasToken: expired } }), 'Forbidden');
    assert.equal(await put(bucket, { endpoint: 'http://127.0.0.1:9/x' }), 'Unreachable');
  });

  test('a missing container is reported by every call', async () => {
    const store = openAzure('another', { account, endpoint, credentials });
    assert.equal(await reasonOf(Array.fromAsync(store.list('a', limited()))), 'NoSuchBucket');
    assert.equal(await reasonOf(store.stat('a.db', limited())), 'NoSuchBucket');
    assert.equal(await reasonOf(whole(store.read('a.db', limited()))), 'NoSuchBucket');
    assert.equal(await reasonOf(store.delete({ name: 'a.db', version: '1' }, limited())), 'NoSuchBucket');
  });
});
