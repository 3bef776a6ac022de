/** All of it at once: etcd, zstd, age, an object store, a restore in a scratch place. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { bucket, s3Secret, startFakeGcs, startVersity } from './emulators.ts';
import { agent, fill, type Place, put, temporary } from './members.ts';

const version = '3.6.16';
const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();

const stores = {
  gs: async () => {
    const gcs = await startFakeGcs();
    return { emulator: gcs, settings: { gcs: { endpoint: gcs.url, anonymous: true } } };
  },
  s3: async ({ path }: Place) => {
    const s3 = await startVersity();
    const credentialsDirectory = join(path, 'key');
    await mkdir(credentialsDirectory);
    await writeFile(join(credentialsDirectory, 'access-key-id'), 'access\n');
    await writeFile(join(credentialsDirectory, 'secret-access-key'), `${s3Secret}\n`);
    return { emulator: s3, settings: { s3: { endpoint: s3.url, region: 'eu-test-1', credentialsDirectory } } };
  },
};

for (const [scheme, start] of Object.entries(stores)) {
  test(`a backup to ${scheme}:// under a writer, compressed and encrypted, is proven by a restore`, async () => {
    await using cluster = await startMembers(etcds[version], 3);
    await using place = await temporary();
    const { emulator, settings } = await start(place);
    await using _ = emulator;
    const identity = await generateX25519Identity();
    const [identityFile, recipientsFile] = [join(place.path, 'identity'), join(place.path, 'recipients')];
    await writeFile(identityFile, `${identity}\n`);
    await writeFile(recipientsFile, `${await identityToRecipient(identity)}\n`);
    const [first] = cluster.members;
    assert.ok(first);
    await fill(first.clientUrl, 64, 50_000);
    const before = await put(first.clientUrl, 'before', 'acknowledged');

    let writing = true;
    const writer = (async () => {
      for (let count = 0; writing; count++) await put(first.clientUrl, `writer/${count}`, 'x');
    })();
    const taken = await agent({
      operation: 'backup',
      id: 'a',
      object: `${scheme}://${bucket}/ns/main/a.db.zst.age`,
      store: settings,
      source: { endpoints: cluster.members.map(({ clientUrl }) => clientUrl) },
      compression: 'zstd',
      recipientsFile,
      identityFile,
      verify: { directory: join(place.path, 'scratch'), etcd: etcds[version], etcdutl: etcdutls[version] },
    });
    writing = false;
    await writer;
    assert.equal(taken.message, undefined);
    const { record, proof } = taken;
    assert.ok(record && proof);
    assert.partialDeepStrictEqual(record, { compression: 'zstd', encryption: 'age' });
    assert.deepEqual(proof.hashKV, record.hashKV);
    // All that was acknowledged before is in it; what was written meanwhile may be.
    assert.ok(
      record.revision >= before && proof.revision >= record.revision && proof.revision <= record.revisionAtMost,
    );
  });
}
