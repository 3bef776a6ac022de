/** What a full or damaged cluster needs: hashes, alarms, compaction, defragmentation. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { post, startMembers } from './etcd-members.ts';
import { failing, insist, open, put, refusal, within } from './etcd-membership-asking.ts';
import { authority, clientLeaf, startTlsMembers, tlsFor } from './etcd-tls-members.ts';

const { etcd: binaries } = await provisionBinaries();

describe('space', { concurrency: 6 }, () => {
  for (const version of etcdVersions) {
    test(`etcd ${version}: full, compacted, defragmented, disarmed: writes go on`, async () => {
      await using cluster = await startMembers(binaries[version], 1, [`--quota-backend-bytes=${2 * 1024 * 1024}`]);
      using etcd = open();
      const [endpoint = ''] = cluster.members.map(({ clientUrl }) => clientUrl);
      const { memberId, clusterId } = await etcd.status(endpoint, within(5_000));
      const options = () => within(10_000, { clusterId });
      assert.deepEqual(await etcd.alarms([endpoint], options()), []);

      let writes = 0;
      while (writes < 300 && (await overwrite(endpoint))) writes += 1;
      assert.deepEqual(await etcd.alarms([endpoint], options()), [{ memberId, alarm: 'NOSPACE' }]);
      const full = await etcd.status(endpoint, within(5_000));
      assert.match(full.errors.join(), /NOSPACE/);
      assert.ok(full.dbSize > 1_000_000n && writes > 10 && writes < 300, `${full.dbSize} after ${writes}`);

      const { revision } = full;
      assert.equal(await refusal(etcd.compact([endpoint], revision + 1_000n, options())), 'FutureRevision');
      assert.equal(await etcd.hasHistory([endpoint], revision, options()), true);
      await etcd.compact([endpoint], revision, options());
      assert.equal(await etcd.hasHistory([endpoint], revision, options()), false);
      // Right after it, while etcd would still be dropping what was compacted, had that not been waited for.
      await etcd.defragment(endpoint, within(30_000, { memberId }));
      const { dbSize } = await etcd.status(endpoint, within(5_000));
      assert.ok(dbSize < full.dbSize / 4n, `${full.dbSize} → ${dbSize}`);

      assert.equal(await refusal(etcd.compact([endpoint], revision, options())), 'Compacted');
      assert.equal(await refusal(etcd.hashKv(endpoint, within(5_000, { revision: revision - 1n }))), 'Compacted');
      // The hash that the compaction took, of what was there before it: not to be compared with one that was taken
      // later.
      const taken = await etcd.hashKv(endpoint, within(5_000, { revision }));
      assert.partialDeepStrictEqual(taken, { memberId, clusterId, hashRevision: revision, compactRevision: -1n });

      const other = within(5_000, { memberId: 'abc' });
      assert.equal(await refusal(etcd.defragment(endpoint, other)), 'AnotherMember');

      assert.equal(await put(endpoint, 'key', 'value'), false);
      await etcd.disarm([endpoint], { memberId, alarm: 'NOSPACE' }, options());
      assert.deepEqual(await etcd.alarms([endpoint], options()), []);
      assert.equal(await put(endpoint, 'key', 'value'), true);
      assert.equal(await etcd.hasHistory([endpoint], revision + 1n, options()), true);
      const stranger = etcd.hasHistory([endpoint], revision + 1n, within(5_000, { clusterId: 'abc' }));
      assert.equal(await refusal(stranger), 'ClusterIdMismatch');
      const later = await etcd.hashKv(endpoint, within(5_000, { revision: revision + 1n }));
      assert.partialDeepStrictEqual(later, { hashRevision: revision + 1n, compactRevision: revision });
      await etcd.disarm([endpoint], { memberId, alarm: 'NOSPACE' }, options());
    });

    test(`etcd ${version}: a defragmentation gives back what a compaction freed`, async () => {
      await using cluster = await startMembers(binaries[version], 3, [`--quota-backend-bytes=${8 * 1024 * 1024}`]);
      using etcd = open();
      const all = cluster.members.map(({ clientUrl }) => clientUrl);
      const statuses = () => Promise.all(all.map((url) => etcd.status(url, within(5_000))));
      const [first = ''] = all;
      for (let number = 0; number < 40 && (await put(first, 'key', 'x'.repeat(500_000))); ) number += 1;
      const [full] = await statuses();
      const { revision = 0n, clusterId = '' } = full ?? {};
      await etcd.compact(all, revision, within(10_000, { clusterId }));
      await until('everybody has the alarm', async () =>
        (await statuses()).every(({ errors }) => /NOSPACE/.test(errors.join())),
      );
      // A member drops what was compacted in its own time, and may show it by nothing but what its defragmentation
      // gains: without a write, dbSizeInUse stays what it was, on some runs also that of the leader.
      for (const url of all) {
        await until('it has given back what was freed', async () => {
          const { memberId } = await etcd.status(url, within(5_000));
          await etcd.defragment(url, within(30_000, { memberId }));
          return (await etcd.status(url, within(5_000))).dbSize < 1_500_000n;
        });
      }
      for (const { dbSize, dbSizeInUse } of await statuses()) {
        assert.ok(dbSize < 1_500_000n, `${dbSize}`);
        assert.ok(dbSize - dbSizeInUse < 65_536n, 'they are about equal');
      }
    });

    test(`etcd ${version}: equal data have one hash at one revision, and alarms name their member`, async () => {
      await using cluster = await startMembers(binaries[version], 3);
      using etcd = open();
      const all = cluster.members.map(({ clientUrl }) => clientUrl);
      const [first = ''] = all;
      for (const key of ['a', 'b', 'c', 'a']) assert.ok(await put(first, key, key));
      const { revision, clusterId } = await etcd.status(first, within(5_000));
      const hashesAt = (at: bigint) =>
        Promise.all(
          all.map((url) => insist('FutureRevision', () => etcd.hashKv(url, within(5_000, { revision: at })))),
        );
      const hashes = await hashesAt(revision);
      assert.equal(new Set(hashes.map(({ hash }) => hash)).size, 1);
      assert.equal(new Set(hashes.map(({ memberId }) => memberId)).size, 3);
      assert.deepEqual(new Set(hashes.map(({ hashRevision }) => hashRevision)), new Set([revision]));
      assert.notEqual((await hashesAt(revision - 1n))[0]?.hash, hashes[0]?.hash);
      assert.ok(await put(first, 'd', 'd'));
      assert.equal((await hashesAt(revision))[0]?.hash, hashes[0]?.hash);
      assert.equal(await refusal(etcd.hashKv(first, within(5_000, { revision: revision + 1_000n }))), 'FutureRevision');
      assert.match((await failing(etcd.hashKv(first, within(5_000, { revision: 0n })))).message, /no revision/);

      const options = () => within(10_000, { clusterId });
      const culprit = hashes[1]?.memberId ?? '';
      const raised = ['0', culprit].map((memberId) => ({ memberId, alarm: 'CORRUPT' }) as const);
      for (const { memberId, alarm } of raised) {
        const memberID = BigInt(`0x${memberId}`).toString();
        await post(first, '/v3/maintenance/alarm', { action: 'ACTIVATE', memberID, alarm });
      }
      const alarms = await etcd.alarms(all, options());
      assert.deepEqual(new Set(alarms), new Set(raised));
      assert.equal(await refusal(etcd.compact(all, revision, options())), 'CorruptCluster');
      await etcd.disarm(all, { memberId: '0', alarm: 'CORRUPT' }, options());
      assert.deepEqual(await etcd.alarms(all, options()), [{ memberId: culprit, alarm: 'CORRUPT' }]);
      await etcd.disarm(all, { memberId: culprit, alarm: 'CORRUPT' }, options());
      assert.deepEqual(await etcd.alarms(all, options()), []);
      await etcd.compact(all, revision, options());
    });
  }

  test('with TLS, all of it as well; without a certificate nothing is sent, and that is certain', async () => {
    const clients = await authority('clients');
    await using cluster = await startTlsMembers(binaries['3.6.16'], 2, clients);
    using etcd = open(tlsFor(cluster.members, clients.certificate, await clientLeaf(clients)));
    const all = cluster.members.map(({ url }) => url);
    const [url = ''] = all;
    const { clusterId, members } = await etcd.members(all, within(5_000));
    const options = () => within(10_000, { clusterId });
    const { leader, memberId, revision } = await etcd.status(url, within(5_000));

    using stranger = open(tlsFor(cluster.members, clients.certificate, { certificate: '', key: '' }));
    for (const ask of [
      () => stranger.addLearner(all, 'https://127.9.9.9:2380', options()),
      () => stranger.remove(all, memberId, options()),
      () => stranger.defragment(url, within(5_000, { memberId })),
    ]) {
      const error = await failing(ask());
      assert.deepEqual([error.outcome, error.tls], ['down', 'ClientCertificateRefused'], error.message);
    }

    const other = members.find(({ id }) => id !== leader)?.id ?? '';
    await etcd.moveLeader(all, other, options());
    assert.equal((await etcd.status(url, within(5_000))).leader, other);
    const id = await insist('UnhealthyCluster', () => etcd.addLearner(all, 'https://127.9.9.9:2380', options()));
    assert.equal(await refusal(etcd.promote(all, id, options())), 'NotInSync');
    await etcd.remove(all, id, options());
    assert.deepEqual(await etcd.alarms(all, options()), []);
    await etcd.disarm(all, { memberId, alarm: 'NOSPACE' }, options());
    await etcd.compact(all, revision, options());
    assert.equal((await etcd.hashKv(url, within(5_000, { revision }))).memberId, memberId);
    await etcd.defragment(url, within(30_000, { memberId }));
  });

  test('a process ends at once after close, whatever change it still asks of a frozen endpoint', async () => {
    const sockets = new Set<Socket>();
    // Accepts and says nothing, like a process that was stopped.
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const module = new URL('../../../reconcile/clients/etcd.ts', import.meta.url).href;
    const script = `
      const { connectEtcd } = await import(${JSON.stringify(module)});
      const etcd = connectEtcd({ callTimeoutMs: 20_000 });
      const all = ['${url}'];
      const options = { signal: new AbortController().signal, clusterId: 'a', memberId: 'a', revision: 1n, timeoutMs: 20_000 };
      const calls = [
        etcd.addLearner(all, 'http://127.9.9.9:1', options), etcd.promote(all, 'a', options), etcd.remove(all, 'a', options),
        etcd.moveLeader(all, 'a', options), etcd.hashKv('${url}', options), etcd.defragment('${url}', options),
        etcd.alarms(all, options), etcd.disarm(all, { memberId: 'a', alarm: 'NOSPACE' }, options), etcd.compact(all, 1n, options),
      ];
      setTimeout(() => {
        etcd.close();
        const closed = performance.now();
        process.once('exit', () => process.stdout.write(String(performance.now() - closed)));
      }, 500);
      const results = await Promise.allSettled(calls);
      if (results.some(({ reason }) => !/client was closed/.test(reason?.message))) process.exitCode = 9;
    `;
    try {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.on('data', (chunk) => {
        said += String(chunk);
      });
      const [code] = await once(child, 'close', { signal: AbortSignal.timeout(15_000) });
      assert.equal(code, 0);
      assert.ok(said !== '' && Number(said) < 500, `${said} ms after close`);
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });
});

/** Many revisions at once: etcd drops what was compacted a thousand at a time, with pauses. Whether etcd took it. */
async function overwrite(clientUrl: string): Promise<boolean> {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const value = base64('x'.repeat(200));
  const success = Array.from({ length: 100 }, (_, n) => ({ requestPut: { key: base64(`key ${n}`), value } }));
  return 'header' in (await post(clientUrl, '/v3/kv/txn', { success }));
}
