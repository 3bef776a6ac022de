/** A restore in three containers: ours, etcdutl of the image, ours. Real etcd, real etcdutl, a kill between any two. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, copyFile, cp, mkdir, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { restorePaths } from '../../../manifests/render/restore-paths.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { agent, type Place, put, sha256, temporary } from './members.ts';

const version = '3.6.16';
const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();

/** A backup of one key in a directory, as the agent takes it. */
async function backedUp(store: string): Promise<string> {
  await using cluster = await startMembers(etcds[version], 1);
  const [member] = cluster.members;
  assert.ok(member);
  await put(member.clientUrl, 'key', 'kept');
  const object = 'pvc://backups/a.db';
  const source = { endpoints: [member.clientUrl] };
  const taken = await agent({ operation: 'backup', id: 'a', object, store: { directory: store }, source });
  assert.equal(taken.message, undefined);
  return object;
}

interface Volume {
  readonly store: string;
  readonly object: string;
  readonly data: string;
  readonly mount: string;
}

async function volumeWith({ path }: Place): Promise<Volume> {
  const [store, mount] = [join(path, 'store'), join(path, 'volume')];
  await mkdir(store);
  await mkdir(mount);
  return { store, mount, object: await backedUp(store), data: join(mount, 'data') };
}

function stage({ store, object, data }: Volume, attempt: number, more: object = {}) {
  return agent({
    ...{ operation: 'stage', object, store: { directory: store }, dataDirectory: data, version, bump: 1_000_000_000 },
    restorer: { id: 'token', attempt },
    ...more,
  });
}

async function etcdutl({ data }: Volume, attempt: number): Promise<void> {
  const paths = restorePaths(data, attempt);
  const url = 'http://127.0.0.1:2380';
  await promisify(execFile)(etcdutls[version] ?? '', [
    ...['snapshot', 'restore', paths.snapshot, '--name=a', `--data-dir=${paths.data}`, '--initial-cluster-token=token'],
    ...[`--initial-cluster=a=${url}`, `--initial-advertise-peer-urls=${url}`],
    ...['--bump-revision=1000000000', '--mark-compacted'],
  ]);
}

function place({ data }: Volume, attempt: number, id = 'token') {
  return agent({ operation: 'place', dataDirectory: data, restorer: { id, attempt } });
}

async function restored(volume: Volume, attempt: number): Promise<void> {
  assert.equal((await stage(volume, attempt)).message, undefined);
  await etcdutl(volume, attempt);
  const placed = await place(volume, attempt);
  assert.equal(placed.message, undefined);
  assert.ok(placed.snapshot && placed.record, 'it says what it restored');
}

test('a restore leaves data alone, and asked again finds its work done', async () => {
  await using at = await temporary();
  const volume = await volumeWith(at);
  await restored(volume, 1);
  assert.deepEqual((await readdir(volume.mount)).toSorted(), ['.restored-data.json', 'data']);
  assert.deepEqual(await readdir(volume.data), ['member']);
  assert.equal((await place(volume, 1)).ok, true);
});

test('wherever an attempt is killed, the next one starts over and ends with the data', async () => {
  await using at = await temporary();
  const volume = await volumeWith(at);
  const partial = async (attempt: number) => writeFile(join(restorePaths(volume.data, attempt).directory, 'x'), 'torn');
  await stage(volume, 1);
  await partial(1);
  await stage(volume, 2);
  await etcdutl(volume, 2);
  await stage(volume, 3);
  assert.deepEqual((await readdir(volume.mount)).toSorted(), ['.restoring-3'], 'what was left is deleted');
  await etcdutl(volume, 3);
  // Killed after the rename: the data are there, and the result was never said.
  assert.equal((await place(volume, 3)).ok, true);
  await restored(volume, 4);
  assert.deepEqual((await readdir(volume.mount)).toSorted(), ['.restored-data.json', 'data']);
});

test('what a power cut tore under the name of the snapshot is fetched again', async () => {
  await using at = await temporary();
  const volume = await volumeWith(at);
  const whole = await readFile(join(volume.store, 'a.db'));
  assert.equal((await stage(volume, 1)).ok, true);
  const { snapshot } = restorePaths(volume.data, 1);
  const half = whole.length / 2;
  for (const torn of [whole.subarray(0, 0), whole.subarray(0, half), Buffer.from(whole).fill(0, half)]) {
    await writeFile(snapshot, torn);
    assert.equal((await stage(volume, 1)).message, undefined);
    assert.equal(sha256(await readFile(snapshot)), sha256(whole));
  }
});

test('a pod that comes late does nothing beside a later attempt', async () => {
  await using at = await temporary();
  const volume = await volumeWith(at);
  await stage(volume, 1);
  await etcdutl(volume, 1);
  const late = restorePaths(volume.data, 1).directory;
  await cp(late, join(at.path, 'late'), { recursive: true });
  await stage(volume, 2);
  await cp(join(at.path, 'late'), late, { recursive: true });
  assert.equal((await place(volume, 1)).reason, 'Superseded');
  assert.equal((await stage(volume, 1)).reason, 'Superseded');
  await etcdutl(volume, 2);
  assert.equal((await place(volume, 2)).ok, true);
  const before = await readFile(join(volume.mount, '.restored-data.json'), 'utf8');
  assert.equal((await place(volume, 1)).reason, 'DataPresent');
  assert.equal(await readFile(join(volume.mount, '.restored-data.json'), 'utf8'), before);
});

test('data that etcd has opened, or another restore made, are never replaced', async () => {
  await using at = await temporary();
  const volume = await volumeWith(at);
  await restored(volume, 1);
  const database = join(volume.data, 'member/snap/db');
  assert.equal((await place(volume, 2, 'another')).reason, 'DataPresent');
  await appendFile(database, 'a write of etcd');
  const bytes = sha256(await readFile(database));
  const again = await stage(volume, 2);
  assert.equal(again.reason, 'DataPresent');
  assert.equal(again.exitCode, 3);
  assert.equal(sha256(await readFile(database)), bytes);

  await rename(join(volume.mount, '.restored-data.json'), join(at.path, 'mark'));
  assert.equal((await stage(volume, 3)).reason, 'DataPresent', 'without its mark it is of nothing we know');
});

test('a whole backup that took the place of the approved one, with its record, is refused', async () => {
  await using at = await temporary();
  await using other = await temporary();
  const volume = await volumeWith(at);
  const approved = sha256(await readFile(join(volume.store, 'a.db')));
  await backedUp(other.path);
  for (const name of ['a.db', 'a.db.json']) await copyFile(join(other.path, name), join(volume.store, name));
  const refused = await stage(volume, 1, { sha256: approved });
  assert.equal(refused.reason, 'WrongDigest');
  assert.equal((await stage(volume, 2)).ok, true, 'without the digest of the approval nothing tells it');
});

test('a snapshot that is cut off, changed, too new or another one is refused by name', async () => {
  await using at = await temporary();
  const volume = await volumeWith(at);
  const file = join(volume.store, 'a.db');
  const whole = await readFile(file);
  assert.equal((await stage(volume, 1, { version: '3.5.35' })).reason, 'NewerVersion');
  assert.equal((await stage(volume, 1, { sha256: 'f'.repeat(64) })).reason, 'WrongDigest');
  assert.equal((await stage(volume, 1, { revision: 1_000_000 })).reason, 'WrongRevision');
  assert.equal((await stage(volume, 1, { sha256: sha256(whole) })).ok, true);

  const own = join(volume.store, 'own.db');
  const other = { object: 'pvc://backups/own.db' };
  await copyFile(file, own);
  await truncate(own, whole.length - 1000);
  assert.equal((await stage(volume, 2, other)).reason, 'BadTrailer');
  await writeFile(own, Buffer.from(whole.map((byte, at) => (at === 5000 ? byte ^ 1 : byte))));
  const flipped = await stage(volume, 3, other);
  assert.equal(flipped.reason, 'WrongDigest');
  assert.equal(flipped.exitCode, 4);
  assert.equal((await stage(volume, 4, { object: 'pvc://backups/none.db' })).reason, 'NotFound');
  assert.equal((await place(volume, 4)).reason, 'NotRestorable', 'nothing is placed that was not restored');

  await copyFile(file, own);
  const newer = await stage(volume, 4, { ...other, version: '3.5.35' });
  assert.equal(newer.reason, 'NewerVersion', 'no record says of which version it is: the data do');
  assert.match(newer.message ?? '', /^the data in the snapshot are of etcd 3\.6\.0, and spec\.version is 3\.5\.35/);
  const unlike = await stage(volume, 4, { ...other, sha256: 'f'.repeat(64) });
  assert.equal(unlike.reason, 'WrongDigest', 'no record says what it is');
  assert.match(unlike.message ?? '', new RegExp(`own.db has sha256 ${sha256(whole)}, and f{64} was asked for`));
  assert.equal((await stage(volume, 4, { ...other, revision: 1 })).reason, 'WrongRevision');
  assert.equal((await stage(volume, 5, { ...other, sha256: sha256(whole) })).ok, true);
});
