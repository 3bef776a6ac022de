/** A drill in stages, as the containers of its Job run them: staged, restored by etcdutl, served by etcd, compared. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { drillMember } from '../../../manifests/render/backup-jobs.ts';
import { scratchEtcdArgs, scratchRestoreArgs } from '../../../manifests/render/scratch.ts';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { agent, fill, put, temporary } from './members.ts';

const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();

/** etcd on what `stage` and etcdutl left in the directory, as the sidecar of the Job. */
async function startRestored(version: keyof typeof etcds, directory: string) {
  const clientPort = await freePort();
  const peerPort = await freePort(undefined, [clientPort]);
  const { snapshot, member: fixed } = drillMember(directory);
  const member = {
    ...fixed,
    clientUrl: `https://127.0.0.1:${clientPort}`,
    peerUrl: `http://127.0.0.1:${peerPort}`,
  };
  await promisify(execFile)(etcdutls[version], scratchRestoreArgs(snapshot, member));
  const child = spawn(etcds[version], scratchEtcdArgs(member), { stdio: 'ignore', env: {} });
  const ended = once(child, 'close');
  return {
    endpoint: member.clientUrl,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 2 }, () => {
    test('what was staged, restored and served is compared, and the proof lies beside the object', async () => {
      await using cluster = await startMembers(etcds[version], 1);
      await using place = await temporary();
      const url = cluster.members[0]?.clientUrl ?? '';
      await fill(url, 32, 1_000);
      const written = await put(url, 'last', 'acknowledged');
      const common = { object: 'pvc://backups/ns/a.db', store: { directory: place.path } };
      const taken = await agent({ ...common, operation: 'backup', id: 'a', source: { endpoints: [url] } });
      const { record } = taken;
      assert.ok(record, taken.message);

      const directory = join(place.path, 'scratch');
      const another = await agent({ ...common, operation: 'stage-drill', directory, sha256: '0'.repeat(64) });
      assert.deepEqual([another.reason, another.snapshot], ['WrongDigest', undefined]);
      const staged = await agent({ ...common, operation: 'stage-drill', directory, sha256: record.sha256 });
      assert.deepEqual([staged.message, staged.snapshot], [undefined, record.snapshot]);
      await using etcd = await startRestored(version, directory);
      const asked = { ...common, operation: 'compare', directory, startSeconds: 30, endpoint: etcd.endpoint };
      assert.equal((await agent({ ...asked, sha256: '0'.repeat(64) })).reason, 'WrongDigest');
      const compared = await agent({ ...asked, sha256: record.sha256 });
      assert.deepEqual([compared.message, compared.proof?.hashKV], [undefined, record.hashKV]);
      assert.equal(compared.proof?.revision, written);
      assert.equal(compared.record, undefined, 'a termination message has little room');

      const proof = join(place.path, 'ns/a.db.verified.json');
      const first = await readFile(proof, 'utf8');
      assert.partialDeepStrictEqual(JSON.parse(first), {
        format: 1,
        object: common.object,
        sha256: record.sha256,
        etcdVersion: version,
        revision: written,
        hash: record.hashKV?.hash,
      });
      assert.equal((await agent(asked)).ok, true);
      assert.equal(await readFile(proof, 'utf8'), first);
      await writeFile(proof, first.replace(record.sha256, '0'.repeat(64)));
      const other = await agent(asked);
      assert.deepEqual([other.reason, other.exitCode], ['Exists', 3]);
      assert.match(other.message ?? '', /tells of another object: delete it/);

      // What was restored is held against the record, not only the record against itself.
      await rm(proof);
      const recordFile = join(place.path, 'ns/a.db.json');
      const wrong = { ...record, hashKV: { ...record.hashKV, hash: (record.hashKV?.hash ?? 0) + 1 } };
      await writeFile(recordFile, JSON.stringify(wrong));
      const mismatch = await agent(asked);
      assert.deepEqual([mismatch.reason, mismatch.exitCode], ['Mismatch', 4]);
      await assert.rejects(readFile(proof), { code: 'ENOENT' });
    });

    test('a flipped bit is found while the snapshot is staged, and staging begins anew each time', async () => {
      await using cluster = await startMembers(etcds[version], 1);
      await using place = await temporary();
      const url = cluster.members[0]?.clientUrl ?? '';
      await put(url, 'a', '1');
      const common = { object: 'pvc://backups/a.db', store: { directory: place.path } };
      assert.equal((await agent({ ...common, operation: 'backup', id: 'a', source: { endpoints: [url] } })).ok, true);
      const file = join(place.path, 'a.db');
      const sound = await readFile(file);
      const flipped = Buffer.from(sound);
      flipped[5000] = (flipped[5000] ?? 0) ^ 1;
      await writeFile(file, flipped);
      const directory = join(place.path, 'scratch');
      const staged = await agent({ ...common, operation: 'stage-drill', directory });
      assert.deepEqual([staged.reason, staged.exitCode], ['WrongDigest', 4]);

      await writeFile(file, sound);
      const left = drillMember(directory).member.dataDirectory;
      assert.equal((await agent({ ...common, operation: 'stage-drill', directory })).ok, true);
      await writeFile(left, 'of an earlier run');
      assert.equal((await agent({ ...common, operation: 'stage-drill', directory })).ok, true);
      await assert.rejects(readFile(left), { code: 'ENOENT' });

      const endpoint = 'https://127.0.0.1:9';
      const silent = await agent({ ...common, operation: 'compare', directory, endpoint, startSeconds: 1 });
      assert.deepEqual([silent.reason, silent.exitCode], ['Unreachable', 1]);
      assert.match(silent.message ?? '', /the pod's container etcd/);
    });
  });
}
