/** Amazon's client against versitygw, also on bad days. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { after, describe, test } from 'node:test';
import {
  CreateBucketCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { openS3 } from '../../../reconcile/backup/stores/s3/s3.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { until } from '../../e2e/support/until.ts';
import { bucket, s3Secret, startVersity } from './emulators.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { faultsContract } from './faults-contract.ts';
import { pruneContract } from './prune-contract.ts';
import { limited, pieces, reasonOf, storeContract, whole } from './store-contract.ts';

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

  test('a bucket that wants a digest with what it takes gets one, and no other does', async () => {
    const digests: (string | undefined)[] = [];
    const refusal = '<?xml version="1.0"?><Error><Code>InvalidRequest</Code><Message>Content-MD5</Message></Error>';
    const isPart = ({ method, url = '' }: IncomingMessage) => method === 'PUT' && /\/digest\//.test(url);
    for (const wants of [true, false]) {
      proxy.fault = (request) => {
        if (!isPart(request)) return 'pass';
        const digest = request.headers['content-md5'] as string | undefined;
        digests.push(digest);
        return wants && digest === undefined ? { status: 400, body: refusal } : 'pass';
      };
      const store = open();
      for (const bytes of [10, 20 * 1024 * 1024]) {
        const data = randomBytes(bytes);
        const { name } = await store.put(`digest/${wants}/${bytes}.db`, pieces(data), limited());
        assert.ok((await whole(store.read(name, limited()))).equals(data));
      }
      proxy.fault = () => 'pass';
    }
    // One refusal, the whole of ten bytes, and four parts or five; then the same without any.
    const [with_, without] = [digests.filter((one) => one !== undefined), digests.filter((one) => one === undefined)];
    assert.equal(without.length, with_.length + 1);
  });

  test('what is refused for another cause is sent once, and that cause is told', async () => {
    let puts = 0;
    proxy.fault = ({ method, url = '' }) => {
      if (method !== 'PUT' || !url.includes('/expired/')) return 'pass';
      puts += 1;
      return { status: 400, body: '<?xml version="1.0"?><Error><Code>ExpiredToken</Code></Error>' };
    };
    const put = open().put('expired/a.db', pieces(Buffer.from('x')), limited());
    await assert.rejects(put, /400, ExpiredToken/);
    proxy.fault = () => 'pass';
    assert.equal(puts, 1);
  });

  test('what Object Lock protects is told as locked by a look, and by its deletion; then it goes', async () => {
    const client = new S3Client({ endpoint: s3.url, region, credentials, forcePathStyle: true });
    const locking = 'locking';
    await client.send(new CreateBucketCommand({ Bucket: locking, ObjectLockEnabledForBucket: true }));
    const store = openS3(locking, { endpoint: s3.url, region, credentials });
    const stored = await store.put('a.db', pieces(Buffer.from('precious')), limited());
    assert.equal(stored.lockedUntil, undefined);
    const RetainUntilDate = new Date(Math.ceil(Date.now() / 1000 + 3) * 1000);
    const lock = { Mode: 'GOVERNANCE', RetainUntilDate } as const;
    await client.send(new PutObjectRetentionCommand({ Bucket: locking, Key: 'a.db', Retention: lock }));
    assert.deepEqual((await store.stat('a.db', limited()))?.lockedUntil, RetainUntilDate);
    const refused = await store.delete(stored, limited()).catch((error: unknown) => error);
    assert.ok(refused instanceof BackupFailure && refused.reason === 'Locked', String(refused));
    assert.match(refused.message, /locked until \d{4}-.*nothing is to be done/);
    const hold = (Status: 'ON' | 'OFF') =>
      client.send(new PutObjectLegalHoldCommand({ Bucket: locking, Key: 'a.db', LegalHold: { Status } }));
    await hold('ON');
    assert.equal((await store.stat('a.db', limited()))?.lockedUntil, 'held');
    assert.equal(await reasonOf(store.delete(stored, limited())), 'Locked');
    await hold('OFF');
    await until('the lock to end', async () => Date.now() > RetainUntilDate.getTime());
    await store.delete(stored, limited());
    assert.equal(await store.stat('a.db', limited()), undefined);
    client.destroy();
  });
});
