import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { post, startMembers } from '../clients/etcd-members.ts';
import { agent, fill, temporary } from './members.ts';

const { etcd, etcdutl } = await provisionBinaries();

for (const version of etcdVersions)
  test(`etcd ${version}: what is out of space, or accused, is backed up and proven`, async () => {
    await using place = await temporary();
    await using cluster = await startMembers(etcd[version], 1);
    const url = cluster.members[0]?.clientUrl ?? assert.fail();
    await fill(url, 10, 1024);
    // Of a member that is gone: both stay in the database, and so in the snapshot.
    for (const alarm of ['NOSPACE', 'CORRUPT'])
      await post(url, '/v3/maintenance/alarm', { action: 'ACTIVATE', alarm, memberID: '123' });
    const refused = await post(url, '/v3/kv/put', { key: 'eA==', value: 'eA==' });
    assert.match(String(refused.message), /database space exceeded|corrupt cluster/);
    const common = { object: 'pvc://backups/a.db', store: { directory: place.path } };
    const taken = await agent({ ...common, operation: 'backup', id: 'a', source: { endpoints: [url] } });
    assert.equal(taken.message, undefined);
    const programs = { etcd: etcd[version], etcdutl: etcdutl[version] };
    const scratch = { directory: join(place.path, 'scratch'), ...programs };
    const { message, proof } = await agent({ ...common, operation: 'verify', scratch });
    assert.equal(message, undefined);
    assert.deepEqual(proof?.hashKV, taken.record?.hashKV);
  });
