/** The Job of a recovery, container by container as rendered: what a lost quorum leaves becomes a new life. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, open as openFile, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { recoveryContainers } from '../../../manifests/render/names.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { restorePaths } from '../../../manifests/render/restore-paths.ts';
import { revisionsAhead } from '../../../manifests/render/revisions.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { peer } from '../../unit/manifests/api-documents.ts';
import { post, startMembers } from '../clients/etcd-members.ts';
import { open, within } from '../clients/etcd-membership-asking.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import { jobHere, onSmallVolume, started } from './job-containers.ts';
import { agent, fill, put, temporary } from './members.ts';

const { etcd: etcds, etcdutl: etcdutls } = await provisionBinaries();
const id = '0123456789ab';
const kept = `before-recovery-${id}`;

interface Lost {
  readonly version: keyof typeof etcds;
  readonly mount: string;
  readonly clusterId: string;
  /** That clients saw. */
  readonly revision: number;
}

/** Two of three are gone, and what the third has lies on a volume. The last of its log was told to all. */
async function lost(path: string, version: keyof typeof etcds, quota?: number): Promise<Lost> {
  const mount = join(path, 'volume');
  await mkdir(mount);
  await using cluster = await startMembers(etcds[version], 3, quota ? [`--quota-backend-bytes=${quota}`] : []);
  using etcd = open();
  const urls = cluster.members.map(({ clientUrl }) => clientUrl);
  await fill(urls[0] ?? '', 48, 1_000);
  const revision = await put(urls[0] ?? '', 'last', 'acknowledged');
  await put(urls[0] ?? '', 'after', 'so that all know that the last one is committed');
  if (quota) await until('the alarm is set', () => refusesWrites(urls[0] ?? ''));
  const [status] = await until('all of it on each', async () => {
    const all = await Promise.all(urls.map((url) => etcd.status(url, within(2_000))));
    return all.every((one) => one.raftAppliedIndex === all[0]?.raftIndex) && all;
  });
  await Promise.all(cluster.members.map((member) => member.kill()));
  await cp(cluster.members[1]?.dataDirectory ?? '', join(mount, 'data'), { recursive: true });
  return { version, mount, clusterId: status?.clusterId ?? '', revision: revision + 1 };
}

async function refusesWrites(url: string): Promise<boolean> {
  const asked = { key: encoded('filling'), value: encoded('x'.repeat(200_000)) };
  return JSON.stringify(await post(url, '/v3/kv/put', asked)).includes('database space exceeded');
}

type Stage = (typeof recoveryContainers)['copy' | 'save' | 'restore' | 'place'];
type Ended = Awaited<ReturnType<typeof agent>>;

/** The pod of the Job, with our own volume and ports; up to the first container that fails, or before `until`. */
async function run(
  { version, mount }: Lost,
  attempt: number,
  before?: Stage,
  damage: (copy: string) => Promise<void> = async () => undefined,
): Promise<Ended | undefined> {
  const { copy, force, save, restore, place } = recoveryContainers;
  const ours = { ...peer, metadata: { ...peer.metadata, uid: 'peer-1' }, spec: { ...peer.spec, version } };
  const begins = { token: `token-${attempt}`, bump: revisionsAhead };
  const { spec } = recoveryJob(ours, { image: 'ours', id, attempt, withoutCopy: false, begins }).spec.template;
  const { request, args } = await jobHere(spec, mount);
  const asked = (name: string) => agent(shortened(request(name)));

  const copied = await asked(copy);
  if (!copied.ok || before === copy) return copied;
  await damage(restorePaths(join(mount, 'data'), attempt).trial.data);
  await using etcd = started(etcds[version], args(force));
  if (before === save) return undefined;
  const saved = await asked(save);
  if (!saved.ok) return { ...saved, message: `${saved.message}; ${etcd.said()}` };
  if (before === restore) return undefined;
  await promisify(execFile)(etcdutls[version], args(restore));
  return before === place ? undefined : await asked(place);
}

/** With waits that are as short as a test. */
function shortened(request: Readonly<Record<string, unknown>>) {
  return { ...request, deadlineSeconds: 60, ...('startSeconds' in request && { startSeconds: 10 }) };
}

/** The member, as it starts once the recovery is over. */
function served(binary: string, directory: string) {
  const url = `http://${ownAddress()}`;
  const args = [
    `--name=${peer.metadata.name}`,
    `--data-dir=${directory}`,
    `--listen-client-urls=${url}:2379`,
    `--advertise-client-urls=${url}:2379`,
    `--listen-peer-urls=${url}:2380`,
    `--initial-advertise-peer-urls=${url}:2380`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
  return { url: `${url}:2379`, ...started(binary, args) };
}

async function filesIn(directory: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = files.map(async (file) => [file.slice(directory.length), (await readFile(file)).toString('base64')]);
  return Object.fromEntries(await Promise.all(read)) as Readonly<Record<string, string>>;
}

const encoded = (text: string) => Buffer.from(text).toString('base64');

async function assertNewLife({ version, mount, clusterId, revision }: Lost): Promise<void> {
  using etcd = open();
  await using member = served(etcds[version], join(mount, 'data'));
  const status = await until('it serves', () => etcd.status(member.url, within(1_000)).catch(() => undefined));
  assert.notEqual(status.clusterId, clusterId);
  assert.ok(Number(status.revision) >= revision + revisionsAhead / 2, `it begins at ${status.revision}`);
  const { members } = await etcd.members([member.url], within(2_000));
  assert.deepEqual(
    members.map(({ name }) => name),
    [peer.metadata.name],
  );
  const range = await post(member.url, '/v3/kv/range', { key: encoded('last') });
  assert.equal((range as { kvs?: readonly { value: string }[] }).kvs?.[0]?.value, encoded('acknowledged'));
  const past = await post(member.url, '/v3/kv/range', { key: encoded('last'), revision: String(revision) });
  assert.match(JSON.stringify(past), /required revision has been compacted/);
}

for (const version of etcdVersions)
  describe(`etcd ${version}`, () => {
    test('begins a new life above all that was seen, and what it went on from stays as it was', async () => {
      await using at = await temporary();
      const of = await lost(at.path, version);
      const before = await filesIn(join(of.mount, 'data'));
      const ended = await run(of, 1);
      assert.equal(ended?.message, undefined);
      const there = ['.restored-data.json', kept, 'data', `recovery-${id}-attempt-1`];
      assert.deepEqual((await readdir(of.mount)).toSorted(), there);
      assert.deepEqual(await filesIn(join(of.mount, kept)), before);
      await assertNewLife(of);
    });
  });

describe('an attempt that was killed', () => {
  for (const before of ['save', 'restore', 'place'] as const)
    test(`before container ${before} leaves the data as they were, and the next one goes on`, async () => {
      await using at = await temporary();
      const of = await lost(at.path, '3.6.16');
      const data = await filesIn(join(of.mount, 'data'));
      assert.equal(await run(of, 1, before), undefined);
      assert.deepEqual(await filesIn(join(of.mount, 'data')), data);
      assert.equal((await run(of, 2))?.message, undefined);
      assert.deepEqual(await filesIn(join(of.mount, kept)), data);
      assert.deepEqual(
        (await readdir(of.mount)).filter((name) => name.startsWith('.restoring')),
        [],
      );
      await assertNewLife(of);
    });

  test('between its two names goes on from the data that were kept', async () => {
    await using at = await temporary();
    const of = await lost(at.path, '3.6.16');
    const data = await filesIn(join(of.mount, 'data'));
    assert.equal(await run(of, 1, 'place'), undefined);
    await rename(join(of.mount, 'data'), join(of.mount, kept));
    assert.equal((await run(of, 2))?.message, undefined);
    assert.deepEqual(await filesIn(join(of.mount, kept)), data);
    await assertNewLife(of);
  });

  test('after it gave both names: the next one makes it anew from the data that were kept', async () => {
    await using at = await temporary();
    const of = await lost(at.path, '3.6.16');
    const data = await filesIn(join(of.mount, 'data'));
    assert.equal((await run(of, 1))?.message, undefined);
    assert.equal((await run(of, 2))?.message, undefined);
    assert.deepEqual(await filesIn(join(of.mount, kept)), data);
    await assertNewLife(of);
  });

  test('and comes too late does nothing, also once its member has started', async () => {
    await using at = await temporary();
    const of = await lost(at.path, '3.6.16');
    assert.equal((await run(of, 2))?.message, undefined);
    await assertNewLife(of);
    const names = await readdir(of.mount);
    for (const attempt of [1, 2]) {
      const late = await run(of, attempt);
      assert.deepEqual([late?.reason, late?.exitCode], ['Superseded', 2]);
    }
    assert.deepEqual(await readdir(of.mount), names);
  });
});

test('a store that is full, and whose alarm is set, goes on as well', async () => {
  await using at = await temporary();
  const of = await lost(at.path, '3.7.3', 2 * 2 ** 20);
  assert.equal((await run(of, 1))?.message, undefined);
  await assertNewLife(of);
});

test('a copy that etcd does not serve is told, and the data are as they were', async () => {
  await using at = await temporary();
  const of = await lost(at.path, '3.6.16');
  const data = await filesIn(join(of.mount, 'data'));
  const ended = await run(of, 1, undefined, async (copy) => {
    await using file = await openFile(join(copy, 'member/snap/db'), 'r+');
    await file.write(Buffer.alloc(16_384, 7), 0, 16_384, 0);
  });
  assert.deepEqual([ended?.reason, ended?.exitCode], ['NotServed', 3]);
  assert.match(ended?.message ?? '', /did not answer within 10 s: /);
  assert.deepEqual(await filesIn(join(of.mount, 'data')), data);
  assert.equal((await run(of, 2))?.message, undefined);
  await assertNewLife(of);
});

test('a volume without room is named with what it lacks, and nothing is begun', async () => {
  await using at = await temporary();
  const of = await lost(at.path, '3.6.16');
  const data = join(at.path, 'data');
  await rename(join(of.mount, 'data'), data);
  await onSmallVolume(of.mount, 200, async () => {
    await cp(data, join(of.mount, 'data'), { recursive: true });
    const ended = await run(of, 1);
    assert.deepEqual([ended?.reason, ended?.exitCode], ['NoRoomForCopy', 3]);
    assert.match(ended?.message ?? '', /need \d+ MiB, and the volume has \d+ MiB left$/);
    assert.deepEqual(await readdir(of.mount), ['data']);
  });
});

test('an empty volume is refused, and left empty', async () => {
  await using at = await temporary();
  const mount = join(at.path, 'volume');
  await mkdir(mount);
  const ended = await run({ version: '3.6.16', mount, clusterId: '', revision: 0 }, 1);
  assert.deepEqual([ended?.reason, ended?.exitCode], ['NoData', 3]);
  assert.deepEqual(await readdir(mount), []);
});
