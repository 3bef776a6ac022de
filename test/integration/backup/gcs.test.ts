/** Google's own client against fake-gcs-server, also on bad days. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openGcs } from '../../../reconcile/backup/stores/gcs/gcs.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { bucket, startFakeGcs } from './emulators.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { faultsContract } from './faults-contract.ts';
import { gcsSessions } from './gcs-sessions.ts';
import { temporary } from './members.ts';
import { pruneContract } from './prune-contract.ts';
import { limited, pieces, reasonOf, storeContract } from './store-contract.ts';

describe('Google Cloud Storage', async () => {
  const proxy = await startFaultProxy(gcsSessions());
  const gcs = await startFakeGcs(proxy.url);
  proxy.target = gcs.url;
  const warnings: string[] = [];
  const warned = ({ message }: Error) => {
    warnings.push(message);
  };
  process.on('warning', warned);
  after(async () => {
    process.off('warning', warned);
    await gcs[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  const open = () => openGcs(bucket, { endpoint: proxy.url, anonymous: true });
  storeContract(open);
  pruneContract(open);
  faultsContract(() => proxy, open);

  test('a bucket that is not there, or can not be reached, is named', async () => {
    const store = openGcs('another', { endpoint: gcs.url, anonymous: true });
    assert.equal(await reasonOf(store.put('a.db', pieces(Buffer.from('x')), limited())), 'NoSuchBucket');
    const away = openGcs(bucket, { endpoint: 'http://127.0.0.1:9', anonymous: true });
    assert.equal(await reasonOf(away.put('a.db', pieces(Buffer.from('x')), limited())), 'Unreachable');
  });

  test('a key that is absent or wrong is told without a word of it', async () => {
    await using place = await temporary();
    const keyFile = join(place.path, 'key.json');
    for (const text of [
      undefined,
      'no JSON: very-secret',
      '{"type":"service_account","client_email":"a@b","private_key":"very-secret"}',
    ]) {
      if (text !== undefined) await writeFile(keyFile, text);
      const failure = await openGcs(bucket, { keyFile })
        .stat('a.db', limited())
        .catch((error: unknown) => error);
      assert.ok(failure instanceof BackupFailure && failure.reason === 'Forbidden', String(failure));
      assert.doesNotMatch(failure.message + String(failure.cause), /very-secret/);
    }
  });

  test('nothing warned of a leak, in all that was read and written before', () => {
    assert.deepEqual(warnings, []);
  });
});
