/**
 * The agent against real etcd of every supported minor and a directory: taken, recorded, fetched, restored, compared.
 */

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { connectEtcd } from '../../../reconcile/clients/etcd.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { within } from '../clients/etcd-membership-asking.ts';
import { agent, compact, fill, put, sha256, temporary } from './members.ts';

const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();

for (const version of etcdVersions) {
  const programs = { etcd: etcds[version], etcdutl: etcdutls[version] };
  describe(`etcd ${version}`, { concurrency: 3 }, () => {
    test('a backup of a follower is recorded, found again, fetched, and proven by a restore', async () => {
      await using cluster = await startMembers(programs.etcd, 3);
      await using place = await temporary();
      const [first] = cluster.members;
      assert.ok(first);
      await fill(first.clientUrl, 64, 10_000);
      const written = await put(first.clientUrl, 'last', 'acknowledged');
      const object = 'pvc://backups/ns/main/one.db';
      const store = { directory: place.path };
      const request = {
        operation: 'backup',
        id: 'uid-1',
        object,
        store,
        source: { endpoints: cluster.members.map(({ clientUrl }) => clientUrl) },
        verify: { directory: join(place.path, 'scratch'), ...programs },
      };
      const taken = await agent(request);
      assert.equal(taken.message, undefined);
      const { record, proof } = taken;
      assert.ok(record && proof);
      const file = join(place.path, 'ns/main/one.db');
      const bytes = await readFile(file);
      assert.partialDeepStrictEqual(record, {
        object,
        id: 'uid-1',
        bytes: bytes.length,
        sha256: sha256(bytes),
        snapshot: { bytes: bytes.length, sha256: sha256(bytes) },
        etcdVersion: version,
        revision: written,
        revisionAtMost: written,
      });
      assert.deepEqual(proof.hashKV, record.hashKV);
      assert.notEqual(proof.hashKV, null);
      assert.equal(proof.revision, written);
      await assert.rejects(stat(join(place.path, 'scratch')), { code: 'ENOENT' });

      const etcd = connectEtcd();
      const statuses = await Promise.all(cluster.members.map(({ clientUrl }) => etcd.status(clientUrl, within(5_000))));
      etcd.close();
      const sender = statuses.find(({ memberId }) => memberId === record.memberId);
      assert.ok(sender && sender.leader !== sender.memberId, 'it was taken from the leader');
      assert.equal(record.clusterId, sender.clusterId);

      const again = await agent({ ...request, verify: undefined });
      assert.deepEqual([again.ok, again.record], [true, record]);
      const others = await agent({ ...request, id: 'uid-2' });
      assert.deepEqual([others.ok, others.reason, others.exitCode], [false, 'Exists', 3]);
      assert.ok((await readFile(file)).equals(bytes));

      const fetched = join(place.path, 'fetched/snapshot.db');
      const got = await agent({ operation: 'fetch', object, store, file: fetched });
      assert.deepEqual([got.ok, got.snapshot], [true, record.snapshot]);
      assert.ok((await readFile(fetched)).equals(bytes));
      assert.equal((await agent({ operation: 'fetch', object, store, file: fetched })).ok, true);
    });

    test('what was compacted, also up to the very last revision, is compared or said not to be', async () => {
      await using cluster = await startMembers(programs.etcd, 1);
      await using place = await temporary();
      const url = cluster.members[0]?.clientUrl ?? '';
      await fill(url, 32, 100);
      const request = (name: string) => ({
        operation: 'backup',
        id: name,
        object: `pvc://backups/${name}.db`,
        store: { directory: place.path },
        source: { endpoints: [url] },
        compression: 'gzip',
        verify: { directory: join(place.path, `scratch-${name}`), ...programs },
      });
      const revision = await put(url, 'fill/1', 'again');
      await compact(url, revision - 3);
      const before = await agent(request('before'));
      assert.equal(before.message, undefined);
      assert.equal(before.record?.hashKV?.compactRevision, revision - 3);
      assert.deepEqual(before.proof?.hashKV, before.record?.hashKV);
      await compact(url, revision);
      const exactly = await agent(request('exactly'));
      assert.equal(exactly.message, undefined);
      assert.deepEqual([exactly.record?.hashKV, exactly.record?.revision], [null, revision]);
      assert.deepEqual([exactly.proof?.hashKV, exactly.proof?.revision], [null, revision]);
    });

    test('a restore gives a data directory once, whatever is asked again, and never over data', async () => {
      await using cluster = await startMembers(programs.etcd, 1);
      await using place = await temporary();
      const url = cluster.members[0]?.clientUrl ?? '';
      await put(url, 'a', '1');
      const common = { object: 'pvc://backups/a.db', store: { directory: place.path } };
      const taken = await agent({
        ...common,
        operation: 'backup',
        id: 'b',
        source: { endpoints: [url] },
        compression: 'zstd',
      });
      assert.equal(taken.message, undefined);
      const request = {
        ...common,
        operation: 'restore',
        id: 'restore-1',
        file: join(place.path, 'volume/snapshot.db'),
        dataDirectory: join(place.path, 'volume/data'),
        etcdutl: programs.etcdutl,
        member: {
          name: 'main-0',
          peerUrl: 'http://127.0.0.1:2380',
          token: 'new-life',
          ...(version !== '3.5.35' && { bumpRevision: 1_000_000 }),
        },
      };
      const restored = await agent(request);
      assert.deepEqual([restored.message, restored.snapshot], [undefined, taken.record?.snapshot]);
      const made = await stat(join(request.dataDirectory, 'member/snap/db'));
      assert.deepEqual(
        [(await agent(request)).ok, (await stat(join(request.dataDirectory, 'member/snap/db'))).ino],
        [true, made.ino],
      );
      const other = await agent({ ...request, id: 'restore-2' });
      assert.deepEqual([other.reason, other.exitCode], ['DataPresent', 3]);
    });
  });
}
