/**
 * Why a disk is told by what it is, and not by the name of its PVC: an older copy of it forgets what its member
 * acknowledged.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import { post } from './etcd-members.ts';

const { etcd: binaries } = await provisionBinaries();

interface Member {
  readonly clientUrl: string;
  start(): void;
  kill(): Promise<void>;
  /** Keeps a copy of its disk, as a snapshot of its storage would. */
  copy(): Promise<void>;
  restore(): Promise<void>;
}

/** Three members, whose disks can be copied while they are stopped. */
async function three(binary: string) {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-older-disk-'));
  const planned = ['a', 'b', 'c'].map((name) => ({ name, address: ownAddress() }));
  const list = planned.map(({ name, address }) => `${name}=http://${address}:2380`).join(',');
  const children: ChildProcess[] = [];
  const members = planned.map(({ name, address }): Member => {
    const data = join(directory, name);
    let child: ChildProcess | undefined;
    const args = [
      `--name=${name}`,
      `--data-dir=${data}`,
      `--listen-client-urls=http://${address}:2379`,
      `--advertise-client-urls=http://${address}:2379`,
      `--listen-peer-urls=http://${address}:2380`,
      `--initial-advertise-peer-urls=http://${address}:2380`,
      `--initial-cluster=${list}`,
    ];
    return {
      clientUrl: `http://${address}:2379`,
      start: () => {
        child = spawn(binary, args, { stdio: 'ignore' });
        children.push(child);
      },
      kill: async () => {
        if (child) await end(child);
      },
      copy: () => cp(data, `${data}-copy`, { recursive: true }),
      restore: async () => {
        await rm(data, { recursive: true });
        await cp(`${data}-copy`, data, { recursive: true });
      },
    };
  });
  const dispose = async () => {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  };
  const [a, b, c] = members;
  if (!a || !b || !c) throw new Error('three were planned');
  return { a, b, c, [Symbol.asyncDispose]: dispose };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function put({ clientUrl }: Member, key: string, value: string): Promise<void> {
  await until(
    `a write of ${key}`,
    async () => 'header' in (await post(clientUrl, '/v3/kv/put', { key: base64(key), value: base64(value) })),
    { within: 60 },
  );
}

/** Linearizable: what any client would be told. */
async function holds({ clientUrl }: Member, key: string): Promise<boolean> {
  const answer = await until(
    `a read of ${key}`,
    async () => {
      const found = await post(clientUrl, '/v3/kv/range', { key: base64(key) });
      return 'header' in found ? found : undefined;
    },
    { within: 60 },
  );
  return 'kvs' in answer;
}

describe('a member that comes back on an older copy of its disk', { concurrency: 3 }, () => {
  for (const version of etcdVersions) {
    test(`etcd ${version}: with a lagging member it forms a quorum without an acknowledged write`, async () => {
      await using cluster = await three(binaries[version]);
      const { a, b, c } = cluster;
      for (const member of [a, b, c]) member.start();
      await put(a, 'before', '1');
      await c.kill();
      await c.copy();
      c.start();
      await put(c, 'between', '1');
      await b.kill();
      await put(a, 'X', 'acknowledged by a and c');

      // c's disk is lost, and restored from the copy under its old name; a is a little longer away than the others.
      await c.kill();
      await a.kill();
      await c.restore();
      b.start();
      c.start();
      assert.equal(await holds(b, 'X'), false, 'the write that a and c acknowledged');
      for (const key of ['1', '2', '3']) await put(b, key, 'new');

      // a, which alone has it, does not bring it back: it is told to forget it, is stuck, or holds other data than the
      // two from then on.
      a.start();
      await put(c, '4', 'new');
      assert.equal(await holds(c, 'X'), false, 'the write that a and c acknowledged');
    });
  }
});
