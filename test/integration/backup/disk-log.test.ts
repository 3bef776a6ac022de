import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDiskLog } from '../../../reconcile/backup/agent/disk-log.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { open, within } from '../clients/etcd-membership-asking.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import { fill, put, temporary } from './members.ts';

const { etcd: binaries } = await provisionBinaries();

const read = (directory: string) => readDiskLog(directory, AbortSignal.timeout(20_000));

async function digestOf(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of (await readdir(directory, { recursive: true, withFileTypes: true })).toSorted((a, b) =>
    join(a.parentPath, a.name).localeCompare(join(b.parentPath, b.name)),
  ))
    if (entry.isFile()) hash.update(entry.name).update(await readFile(join(entry.parentPath, entry.name)));
  return hash.digest('hex');
}

/** Starts it by itself, and gives what etcd said of its log, and what of it came after. */
async function startedAlone(binary: string, dataDirectory: string, name: string) {
  const url = `http://${ownAddress()}`;
  const etcd = spawn(
    binary,
    [
      `--name=${name}`,
      `--data-dir=${dataDirectory}`,
      `--listen-client-urls=${url}:2379`,
      `--advertise-client-urls=${url}:2379`,
      `--listen-peer-urls=${url}:2380`,
      `--initial-advertise-peer-urls=${url}:2380`,
      '--force-new-cluster',
      '--unsafe-no-fsync',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  etcd.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const stop = async () => {
    const ended = new Promise((resolve) => etcd.once('exit', resolve));
    etcd.kill('SIGKILL');
    await ended;
  };
  return { url: `${url}:2379`, said: () => said, [Symbol.asyncDispose]: stop };
}

for (const version of etcdVersions)
  test(`the log of etcd ${version} on the disk says what is committed, and what --force-new-cluster drops`, async () => {
    await using place = await temporary();
    await using cluster = await startMembers(binaries[version], 3, ['--snapshot-count=100']);
    using etcd = open();
    const urls = cluster.members.map(({ clientUrl }) => clientUrl);
    await fill(urls[0] ?? '', 300, 1000);
    // Of writes at once many are committed together, and etcd writes that only with the next entry.
    for (const number of [1, 2]) await put(urls[0] ?? '', `last/${number}`, 'x');
    const before = await until('all of it on each', async () => {
      const all = await Promise.all(urls.map((url) => etcd.status(url, within(2_000))));
      const isSame = all.every((one) => one.raftAppliedIndex === all[0]?.raftIndex);
      return isSame && all;
    });
    const leader = cluster.members.find((_, n) => before[n]?.memberId === before[n]?.leader) ?? assert.fail();
    const followers = cluster.members.filter((member) => member !== leader);
    const { raftIndex, clusterId, revision } = before[0] ?? assert.fail();

    await Promise.all(followers.map((member) => member.kill()));
    // No client is answered: these may be lost. The leader has them on its disk for certain before it sends them.
    const unanswered = Array.from({ length: 5 }, (_, n) => put(leader.clientUrl, `tail/${n}`, 'x', 1_000));
    await Promise.allSettled(unanswered);
    await leader.kill();

    for (const member of cluster.members) {
      const digest = await digestOf(member.dataDirectory);
      const log = await read(member.dataDirectory);
      assert.equal(await digestOf(member.dataDirectory), digest, 'not a byte was changed');
      assert.equal(log.clusterId, clusterId);
      assert.equal(log.memberId, before[cluster.members.indexOf(member)]?.memberId);
      const kept = log.commit > log.consistentIndex ? log.commit : log.consistentIndex;
      assert.ok(kept <= raftIndex && raftIndex - kept <= 1n, `${kept} of ${raftIndex}`);
      const tail = log.lastIndex - raftIndex;
      assert.ok(member === leader ? tail === 5n : tail === 0n, `${member.name}: ${tail} entries beyond`);

      const copy = join(place.path, member.name);
      await cp(member.dataDirectory, copy, { recursive: true });
      await using alone = await startedAlone(binaries[version], copy, member.name);
      const status = await until('it leads itself', () => etcd.status(alone.url, within(1_000)).catch(() => undefined));
      // Two entries more take the other two members off its list.
      const forced = `"wal-commit-index":${log.commit},"commit-index":${kept + 2n}}`;
      assert.ok(alone.said().includes(forced), forced);
      const dropped = log.lastIndex - kept;
      if (dropped > 0n) assert.match(alone.said(), new RegExp(`"number-of-discarded-entries":${dropped}\\b`));
      assert.ok(status.revision <= revision, 'the tail is dropped');
    }
  });
