/** Reads a backup again that was stored earlier: on real stores, of a real etcd. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { parseLocation } from '../../../manifests/api/object-template.ts';
import type { BackupRecord } from '../../../reconcile/backup/agent/record.ts';
import type { AgentRequest } from '../../../reconcile/backup/agent/request.ts';
import { openStore } from '../../../reconcile/backup/stores/open-store.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { localEgress } from '../../support/network.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { bucket, type Emulator, s3Secret, startFakeGcs, startVersity } from './emulators.ts';
import { agent, fill, type Place, put, temporary } from './members.ts';
import { limited, pieces, whole } from './store-contract.ts';

const { etcd: etcds } = await provisionBinaries();

interface Started {
  readonly emulator?: Emulator;
  readonly prefix: string;
  readonly settings: NonNullable<Extract<AgentRequest, { readonly store?: unknown }>['store']>;
}

const stores: Readonly<Record<string, (place: Place) => Promise<Started>>> = {
  'a directory': async ({ path }) => {
    const directory = join(path, 'store');
    await mkdir(directory);
    return { prefix: 'pvc://backups', settings: { directory } };
  },
  'Google Cloud Storage': async () => {
    const emulator = await startFakeGcs();
    return { emulator, prefix: `gs://${bucket}`, settings: { gcs: { endpoint: emulator.url, anonymous: true } } };
  },
  S3: async ({ path }) => {
    const emulator = await startVersity();
    const credentialsDirectory = join(path, 'key');
    await mkdir(credentialsDirectory);
    await writeFile(join(credentialsDirectory, 'access-key-id'), 'access\n');
    await writeFile(join(credentialsDirectory, 'secret-access-key'), `${s3Secret}\n`);
    const s3 = { endpoint: emulator.url, region: 'eu-test-1', credentialsDirectory };
    return { emulator, prefix: `s3://${bucket}`, settings: { s3 } };
  },
};

for (const [what, start] of Object.entries(stores)) {
  describe(`a backup in ${what}`, () => {
    test('is found as it was stored, without its key, and not once it is changed, cut off or gone', async () => {
      await using cluster = await startMembers(etcds['3.6.16'], 1);
      await using place = await temporary();
      const { emulator, prefix, settings } = await start(place);
      await using _ = emulator ?? { [Symbol.asyncDispose]: async () => undefined };
      const recipientsFile = join(place.path, 'recipients');
      await writeFile(recipientsFile, `${await identityToRecipient(await generateX25519Identity())}\n`);
      const [first = assert.fail()] = cluster.members;
      await put(first.clientUrl, 'kept', 'here');
      await fill(first.clientUrl, 32, 50_000);
      const object = `${prefix}/ns/main/a.db.age`;
      const source = { endpoints: [first.clientUrl] };
      const taken = await agent({ operation: 'backup', id: 'a', object, store: settings, source, recipientsFile });
      assert.equal(taken.message, undefined);
      const record = taken.record ?? assert.fail();
      const { sha256 } = record;

      const look = (asked: string) => agent({ operation: 'look', object, store: settings, sha256: asked });
      const found = await look(sha256);
      assert.deepEqual([found.ok, found.operation, found.record], [true, 'look', record]);
      assert.equal((await look('cd'.repeat(32))).reason, 'WrongDigest');
      await spoilt(object, settings, record, look);
    });
  });
}

/** By the store's own means: another object under the name, none, and no record. */
async function spoilt(
  object: string,
  settings: Started['settings'],
  record: BackupRecord,
  look: (sha256: string) => ReturnType<typeof agent>,
): Promise<void> {
  const { sha256, bytes } = record;
  const location = parseLocation(object);
  if ('problem' in location) assert.fail(location.problem);
  const { path } = location;
  const store = await openStore(location, settings, localEgress);
  const data = await whole(store.read(path, limited()));
  const flipped = Buffer.from(data);
  flipped.writeUInt8(flipped.readUInt8(bytes - 1) ^ 1, bytes - 1);
  const others = {
    'a flipped bit': flipped,
    'cut off': data.subarray(0, -1),
    'a byte more': Buffer.concat([data, data.subarray(0, 1)]),
  };
  const remove = async (name: string) => {
    const stored = (await store.stat(name, limited())) ?? assert.fail(`${name} is not there`);
    await store.delete(stored, limited());
  };
  for (const [what, other] of Object.entries(others)) {
    await remove(path);
    await store.put(path, pieces(other), limited());
    const { ok, reason, message, record: told } = await look(sha256);
    assert.deepEqual([ok, reason, told], [false, 'WrongDigest', undefined], what);
    assert.match(message ?? '', /changed or cut off after the backup/);
  }
  await remove(path);
  const gone = await look(sha256);
  assert.deepEqual([gone.reason, gone.retry], ['NotFound', false]);
  assert.match(gone.message ?? '', /a\.db\.age is not in the store any more/);
  await store.put(path, pieces(data), limited());
  assert.equal((await look(sha256)).ok, true, 'a person has put it back');
  await remove(`${path}.json`);
  const unrecorded = await look(sha256);
  assert.equal(unrecorded.reason, 'NotFound');
  assert.match(unrecorded.message ?? '', /the record of the backup, is not there/);
  const another = { ...record, sha256: 'cd'.repeat(32) };
  await store.put(`${path}.json`, pieces(Buffer.from(JSON.stringify(another))), limited());
  assert.equal((await look(sha256)).reason, 'WrongDigest', 'the record is of another backup');
  store.close();
}
