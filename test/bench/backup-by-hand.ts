import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { Etcd3 } from 'etcd3';
import { until } from '../e2e/support/until.ts';
import { post } from '../integration/clients/etcd-members.ts';
import { ownAddress } from '../integration/manifests-build/etcd-process.ts';

/** What a person does with etcd's own tools where the agent is not used. */

/** As `etcdctl snapshot save`: the whole stream into a file, flushed, which then gets its name. */
export async function saveSnapshot(endpoint: string, file: string): Promise<void> {
  const etcd = new Etcd3({ hosts: endpoint });
  try {
    const messages = (await etcd.maintenance.snapshot()) as unknown as AsyncIterable<{ readonly blob: Buffer }>;
    const partial = `${file}.part`;
    await pipeline(messages, blobs, createWriteStream(partial, { flush: true }));
    await rename(partial, file);
  } finally {
    etcd.close();
  }
}

async function* blobs(messages: AsyncIterable<{ readonly blob: Buffer }>): AsyncGenerator<Buffer> {
  for await (const { blob } of messages) yield blob;
}

export interface Programs {
  readonly etcd: string;
  readonly etcdutl: string;
}

interface NewMember {
  readonly clientUrl: string;
  readonly peerUrl: string;
}

export function newMember(): NewMember {
  const address = ownAddress();
  return { clientUrl: `http://${address}:2379`, peerUrl: `http://${address}:2380` };
}

/** With the arguments that a restore Job has. */
export async function restoreData(
  { etcdutl }: Programs,
  snapshot: string,
  dataDirectory: string,
  { peerUrl }: NewMember,
): Promise<void> {
  await promisify(execFile)(etcdutl, [
    ...['snapshot', 'restore', snapshot, `--data-dir=${dataDirectory}`, '--name=bench'],
    ...[`--initial-cluster=bench=${peerUrl}`, '--initial-cluster-token=bench'],
    ...[`--initial-advertise-peer-urls=${peerUrl}`, '--bump-revision=1000000000', '--mark-compacted'],
  ]);
}

/** Starts etcd, and ends it when it serves: when a linearizable read finds so many keys. */
export async function serveOnce(
  { etcd }: Programs,
  dataDirectory: string,
  { clientUrl, peerUrl }: NewMember,
  keys: number,
): Promise<void> {
  const child = spawn(
    etcd,
    [
      ...['--name=bench', `--data-dir=${dataDirectory}`, '--log-level=fatal'],
      ...[`--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`],
      ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
      ...[`--initial-cluster=bench=${peerUrl}`, '--initial-cluster-token=bench'],
      `--quota-backend-bytes=${8 * 1024 ** 3}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  try {
    const all = { key: 'AA==', range_end: 'AA==', count_only: true };
    let seen = '';
    const served = async () => {
      const { count } = await post(clientUrl, '/v3/kv/range', all);
      seen = `${count} of ${keys} keys`;
      return count === String(keys);
    };
    await until('the restored member serves', served, { every: 20, within: 300, last: () => seen });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
