/** Amazon's client against versitygw, also on bad days. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { openS3 } from '../../../reconcile/backup/stores/s3/s3.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { bucket, s3Secret, startVersity } from './emulators.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { faultsContract } from './faults-contract.ts';
import { pruneContract } from './prune-contract.ts';
import { limited, pieces, reasonOf, storeContract } from './store-contract.ts';

const region = 'eu-test-1';
const credentials = { accessKeyId: 'access', secretAccessKey: s3Secret };

describe('S3', async () => {
  const proxy = await startFaultProxy();
  const s3 = await startVersity();
  proxy.target = s3.url;
  after(async () => {
    await s3[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  const open = () => openS3(bucket, { endpoint: proxy.url, region, credentials });
  storeContract(open);
  pruneContract(open);
  faultsContract(() => proxy, open);

  test('a store that passes over the condition does not have its objects replaced', async () => {
    const store = open();
    const stored = await store.put('plain/a.db', pieces(Buffer.from('first')), limited());
    proxy.fault = (request) => {
      delete request.headers['if-none-match'];
      return 'pass';
    };
    for (const bytes of [10, 20 * 1024 * 1024])
      assert.equal(await reasonOf(store.put('plain/a.db', pieces(Buffer.alloc(bytes)), limited())), 'Exists');
    proxy.fault = () => 'pass';
    assert.deepEqual(await store.stat('plain/a.db', limited()), stored);
  });

  test('a missing bucket, a wrong key and a wrong region are named, without the key', async () => {
    const put = async (store: ReturnType<typeof openS3>) => {
      const failure = await store.put('a.db', pieces(Buffer.from('x')), limited()).catch((error: unknown) => error);
      assert.ok(failure instanceof BackupFailure, String(failure));
      assert.ok(!JSON.stringify([failure.message, failure.cause]).includes(s3Secret));
      return failure.reason;
    };
    assert.equal(await put(openS3('another', { endpoint: s3.url, region, credentials })), 'NoSuchBucket');
    const wrong = { ...credentials, secretAccessKey: `${s3Secret}-not` };
    assert.equal(await put(openS3(bucket, { endpoint: s3.url, region, credentials: wrong })), 'Forbidden');
    assert.equal(await put(openS3(bucket, { endpoint: s3.url, region: 'us-west-2', credentials })), 'WrongRegion');
    assert.equal(await put(openS3(bucket, { endpoint: 'http://127.0.0.1:9', region, credentials })), 'Unreachable');
  });
});
