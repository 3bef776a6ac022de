/** The Job of a rollback, container by container as rendered: what it restores is served before it gets its name. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { restoreContainers, restoreJob } from '../../../manifests/render/restore-job.ts';
import { restorePaths } from '../../../manifests/render/restore-paths.ts';
import { revisionsAhead } from '../../../manifests/render/revisions.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { peer } from '../../unit/manifests/api-documents.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { jobHere, onSmallVolume, type Started, started } from './job-containers.ts';
import { agent, fill, put, temporary } from './members.ts';

const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();
const object = 'pvc://backups/a.db';

interface Volume {
  readonly version: keyof typeof etcds;
  readonly store: string;
  readonly mount: string;
  readonly written: number;
}

/** A backup of an etcd of this version, and an empty volume. */
async function volumeIn(path: string, version: keyof typeof etcds): Promise<Volume> {
  const [store, mount] = [join(path, 'store'), join(path, 'volume')];
  await Promise.all([mkdir(store), mkdir(mount)]);
  await using cluster = await startMembers(etcds[version], 1);
  const url = cluster.members[0]?.clientUrl ?? '';
  await fill(url, 32, 1_000);
  const written = await put(url, 'last', 'acknowledged');
  const taken = await agent({
    ...{ operation: 'backup', id: 'a', object, store: { directory: store }, source: { endpoints: [url] } },
  });
  assert.equal(taken.message, undefined);
  return { version, store, mount, written };
}

interface Ran {
  readonly placed: Awaited<ReturnType<typeof agent>>;
  /** What kubelet has of the end of the trial's etcd, if it ended by itself. */
  readonly died?: NonNullable<ReturnType<Started['ended']>>;
}

type Damage = (data: string) => Promise<void>;

/** The pod of the Job, with our own volume, store and ports, and a wait that is as short as a test. */
async function run(volume: Volume, attempt: number, damage: Damage = async () => undefined): Promise<Ran> {
  const { version, mount } = volume;
  const ours = { ...peer, metadata: { ...peer.metadata, uid: 'peer-1' }, spec: { ...peer.spec, version } };
  const order = { image: 'ours', id: 'id', token: 'token', bump: revisionsAhead, trial: true, attempt };
  const { spec } = restoreJob(ours, { ...order, snapshot: { object } }).spec.template;
  const { request, args } = await jobHere(spec, mount);
  const asked = (name: string) => here(request(name), volume);

  assert.equal((await agent(asked(restoreContainers.fetch))).message, undefined);
  await promisify(execFile)(etcdutls[version], args(restoreContainers.restore));
  const { data } = restorePaths(join(mount, 'data'), attempt);
  await damage(data);
  const copied = await agent(asked(restoreContainers.copy));
  if (!copied.ok) return { placed: copied };
  await using etcd = started(etcds[version], args(restoreContainers.trial));
  const placed = await agent(asked(restoreContainers.place));
  const died = etcd.ended();
  return { placed, ...(died && { died }) };
}

/** Our own store, and waits that are as short as a test. */
function here(request: Readonly<Record<string, unknown> & { readonly trial?: object }>, { store }: Volume) {
  const { trial } = request;
  const short = trial ? { trial: { ...trial, startSeconds: 8 } } : {};
  return { ...request, ...('object' in request && { store: { directory: store } }), ...short, deadlineSeconds: 60 };
}

/** Both meta pages of the database. */
const tornDatabase: Damage = async (data) => {
  await using file = await open(join(data, 'member/snap/db'), 'r+');
  await file.write(Buffer.alloc(16_384, 7), 0, 16_384, 0);
};

for (const version of etcdVersions) {
  describe(`etcd ${version}`, () => {
    test('serves a copy of what was restored, which gets its name unopened; no copy is left', async () => {
      await using at = await temporary();
      const volume = await volumeIn(at.path, version);
      let restored: Buffer | undefined;
      const { placed, died } = await run(volume, 1, async (data) => {
        restored = await readFile(join(data, 'member/snap/db'));
      });
      assert.deepEqual([placed.message, died], [undefined, undefined]);
      assert.deepEqual((await readdir(volume.mount)).toSorted(), ['.restored-data.json', 'data']);
      assert.ok(restored?.equals(await readFile(join(volume.mount, 'data/member/snap/db'))), 'no etcd has opened it');
    });

    test('does not serve a torn database: nothing gets the name, and the next attempt may', async () => {
      await using at = await temporary();
      const volume = await volumeIn(at.path, version);
      const { placed, died } = await run(volume, 1, tornDatabase);
      assert.deepEqual([placed.reason, placed.exitCode], ['TrialFailed', 3]);
      assert.match(placed.message ?? '', /did not answer within 8 s/);
      assert.ok(died && died.code > 0, 'etcd ended by itself');
      assert.match(died.words, /invalid database|checksum|Page expected/);
      assert.deepEqual(await readdir(volume.mount), ['.restoring-1'], 'the data have no name');
      assert.ok(!(await readdir(join(volume.mount, '.restoring-1'))).includes('trial'), 'the copy is gone');
      const again = await run(volume, 2);
      assert.equal(again.placed.message, undefined);
      assert.deepEqual((await readdir(volume.mount)).toSorted(), ['.restored-data.json', 'data']);
    });
  });
}

test('an etcd that serves less than was restored fails its trial', async () => {
  await using at = await temporary();
  const volume = await volumeIn(at.path, '3.6.16');
  const { placed } = await run(volume, 1, async (data) => {
    const note = join(dirname(data), 'staged.json');
    const { begins, ...rest } = JSON.parse(await readFile(note, 'utf8')) as { readonly begins: number };
    assert.equal(begins, volume.written + revisionsAhead);
    await using file = await open(note, 'w');
    await file.writeFile(JSON.stringify({ ...rest, begins: begins + 1 }));
  });
  assert.equal(placed.reason, 'TrialFailed');
  assert.match(placed.message ?? '', new RegExp(`serves revision ${volume.written + revisionsAhead}, and`));
});

test('a volume without room for the copy is named with what it lacks, and nothing gets the name', async () => {
  await using at = await temporary();
  const volume = await volumeIn(at.path, '3.6.16');
  const { placed } = await onSmallVolume(volume.mount, 150, () => run(volume, 1));
  assert.deepEqual([placed.reason, placed.exitCode], ['NoRoomForTrial', 3]);
  assert.match(placed.message ?? '', /^a copy of the restored data needs 1\d\d MiB, and \d+ MiB are free/);
});
