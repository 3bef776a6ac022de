import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { dataVersionOf } from '../../../reconcile/backup/agent/staged-restore.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { fill, temporary } from './members.ts';

const { etcd, etcdctl } = await provisionBinaries();

for (const version of etcdVersions)
  test(`a snapshot of etcd ${version} says its minor, small or large`, async () => {
    await using place = await temporary();
    await using cluster = await startMembers(etcd[version], 1);
    const url = cluster.members[0]?.clientUrl ?? assert.fail();
    const file = join(place.path, 'saved.db');
    for (const keys of [1, 200]) {
      await fill(url, keys, 64 * 1024);
      await promisify(execFile)(etcdctl, [`--endpoints=${url}`, 'snapshot', 'save', file]);
      assert.equal(await dataVersionOf(file), version.replace(/\d+$/, '0'), `${keys} keys`);
    }
  });
