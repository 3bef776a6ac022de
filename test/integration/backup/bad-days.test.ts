/** What befalls one kind of store only: clocks that are apart, buckets and volumes that are full. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { openDirectory } from '../../../reconcile/backup/stores/pvc/directory.ts';
import { openS3 } from '../../../reconcile/backup/stores/s3/s3.ts';
import { bucket, s3Secret, startVersity } from './emulators.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { temporary } from './members.ts';
import { limited, listed, pieces, reasonOf, whole } from './store-contract.ts';

const MiB = 1024 ** 2;
const region = 'eu-test-1';
const credentials = { accessKeyId: 'access', secretAccessKey: s3Secret };
const Clock = globalThis.Date;

/** As on a node whose clock is off, in minutes; the store's is right. */
function setClock(minutes: number): void {
  const now = () => Clock.now() + minutes * 60_000;
  globalThis.Date = new Proxy(Clock, {
    construct: (target, args) => new target(...((args.length === 0 ? [now()] : args) as [number])),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

describe('S3 on bad days', async () => {
  const proxy = await startFaultProxy();
  const s3 = await startVersity();
  proxy.target = s3.url;
  const settings = { endpoint: s3.url, region, credentials };
  const plain = () => new S3Client({ ...settings, forcePathStyle: true, maxAttempts: 1 });
  afterEach(() => {
    globalThis.Date = Clock;
    proxy.fault = () => 'pass';
  });
  after(async () => {
    await s3[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });

  for (const minutes of [-20, 20]) {
    test(`a backup succeeds where the node's clock is ${minutes} minutes off`, async () => {
      setClock(minutes);
      const name = `clock/${minutes}.db`;
      // What the store makes of it, before the client has learned what to add.
      const once = plain().send(new PutObjectCommand({ Bucket: bucket, Key: 'clock/once.db', Body: 'x' }));
      await assert.rejects(once, { name: 'RequestTimeTooSkewed' });
      const data = randomBytes(12 * MiB);
      const store = openS3(bucket, settings);
      assert.equal((await store.put(name, pieces(data), limited())).bytes, data.length);
      assert.ok((await whole(store.read(name, limited()))).equals(data));
      store.close();
    });
  }

  const refusals = [
    ['RequestTimeTooSkewed', 403, 'Forbidden', /clock/],
    ['QuotaExceeded', 403, 'Full', /raise the quota/],
    ['XMinioStorageFull', 507, 'Full', /raise the quota/],
    ['AccessDenied', 403, 'Forbidden', /s3:PutObject/],
  ] as const;
  for (const [code, status, reason, cure] of refusals) {
    test(`${code} in the middle of an upload is told as ${reason}, and no part is left`, async () => {
      let parts = 0;
      proxy.fault = ({ url = '' }) => {
        if (!url.includes('partNumber=') || ++parts < 2) return 'pass';
        return { status, body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>` };
      };
      const store = openS3(bucket, { ...settings, endpoint: proxy.url });
      const name = `refused/${code}.db`;
      const put = store.put(name, pieces(randomBytes(20 * MiB)), limited());
      const failure = await put.catch((error: unknown) => error);
      assert.ok(failure instanceof Error);
      assert.match(failure.message, cure);
      assert.equal(await reasonOf(Promise.reject(failure)), reason);
      assert.ok(parts >= 2, 'nothing was injected');
      assert.deepEqual(await listed(store, 'refused/'), []);
      const { Uploads = [] } = await plain().send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      assert.deepEqual(Uploads, []);
      store.close();
    });
  }
});

test('a volume that fills up in the middle is told as Full, and has its room back', async () => {
  await using place = await temporary();
  const volume = join(place.path, 'volume');
  await mkdir(volume);
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'full', volume]);
  try {
    const store = openDirectory(volume, 'pvc://backups');
    assert.equal(await reasonOf(store.put('a.db', pieces(randomBytes(12 * MiB)), limited())), 'Full');
    assert.deepEqual(await readdir(volume), []);
    assert.equal((await store.put('b.db', pieces(randomBytes(6 * MiB)), limited())).bytes, 6 * MiB);
  } finally {
    await promisify(execFile)('umount', [volume]);
  }
});
