/** The agent's bundle, as its Job runs it, against a real etcd: what it takes of memory at most. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { benchStores } from '../../bench/backup-stores.ts';
import { bundledAgent } from '../../bench/bundled-agent.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { fill, temporary } from './members.ts';

/** The aim of the issue, in MiB. Of this, Node itself takes 75 before the first byte. */
const limit = 128;
const mebibytes = 96;

const { directory, gcs, s3 } = benchStores;
const stores = { 'a directory': directory, 'Google Cloud Storage': gcs, S3: s3 };

describe(`a snapshot of ${mebibytes} MiB that nothing compresses`, async () => {
  const { etcd } = await provisionBinaries();
  const place = await temporary();
  const cluster = await startMembers(etcd['3.6.16'], 1, ['--quota-backend-bytes=1073741824']);
  after(async () => {
    await cluster[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });
  const endpoint = cluster.members[0]?.clientUrl ?? '';
  await fill(endpoint, mebibytes * 4, 256 * 1024);
  const agent = await bundledAgent(join(place.path, 'app'));

  for (const [name, { open }] of Object.entries(stores)) {
    test(`to ${name} and back, it takes less than ${limit} MiB`, async () => {
      await using own = await temporary();
      await using store = await open(own.path);
      const common = { object: `${store.prefix}a.db`, store: store.settings };
      const source = { endpoints: [endpoint] };
      const taken = await agent({ ...common, operation: 'backup', id: 'a', source });
      assert.ok((taken.result.record?.bytes ?? 0) > mebibytes * 1024 ** 2, taken.stdout);
      const fetched = await agent({ ...common, operation: 'fetch', file: join(own.path, 'fetched.db') });
      assert.deepEqual(fetched.result.snapshot, taken.result.record?.snapshot);
      console.log(`${store.name}: ${taken.peakMegabytes.toFixed(0)}, back ${fetched.peakMegabytes.toFixed(0)} MiB`);
      assert.ok(taken.peakMegabytes < limit, `a backup took ${taken.peakMegabytes} MiB`);
      assert.ok(fetched.peakMegabytes < limit, `to fetch it took ${fetched.peakMegabytes} MiB`);
    });
  }
});
