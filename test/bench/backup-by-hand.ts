import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { until } from '../e2e/support/until.ts';
import { post } from '../integration/clients/etcd-members.ts';
import { ownAddress } from '../integration/manifests-build/etcd-process.ts';

/** What a person does with etcd's own tools where the agent is not used. */

export interface Programs {
  readonly etcd: string;
  readonly etcdctl: string;
  readonly etcdutl: string;
}

export async function saveSnapshot({ etcdctl }: Programs, endpoint: string, file: string): Promise<void> {
  await promisify(execFile)(etcdctl, [`--endpoints=${endpoint}`, 'snapshot', 'save', file]);
}

export interface NewMember {
  readonly name: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
}

export function newMember(name = 'bench'): NewMember {
  const address = ownAddress();
  return { name, clientUrl: `http://${address}:2379`, peerUrl: `http://${address}:2380` };
}

/**
 * With the arguments that a restore Job has.
 *
 * @param members of the restored cluster
 */
export async function restoreData(
  { etcdutl }: Programs,
  snapshot: string,
  dataDirectory: string,
  member: NewMember,
  members: readonly NewMember[] = [member],
): Promise<void> {
  await promisify(execFile)(etcdutl, [
    ...['snapshot', 'restore', snapshot, `--data-dir=${dataDirectory}`, `--name=${member.name}`],
    ...[`--initial-cluster=${initialCluster(members)}`, '--initial-cluster-token=bench'],
    ...[`--initial-advertise-peer-urls=${member.peerUrl}`, '--bump-revision=1000000000', '--mark-compacted'],
  ]);
}

/** A member of etcd's own defaults, with what it writes flushed. */
export function startMember(
  { etcd }: Programs,
  dataDirectory: string,
  { name, clientUrl, peerUrl }: NewMember,
  members: readonly NewMember[],
  more: readonly string[] = [],
): ChildProcess {
  return spawn(
    etcd,
    [
      ...[`--name=${name}`, `--data-dir=${dataDirectory}`, '--log-level=fatal'],
      ...[`--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`],
      ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
      ...[`--initial-cluster=${initialCluster(members)}`, '--initial-cluster-token=bench'],
      `--quota-backend-bytes=${8 * 1024 ** 3}`,
      ...more,
    ],
    { stdio: 'ignore' },
  );
}

function initialCluster(members: readonly NewMember[]): string {
  return members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
}

/** Starts etcd, and ends it when it serves: when a linearizable read finds so many keys. */
export async function serveOnce(
  programs: Programs,
  dataDirectory: string,
  member: NewMember,
  keys: number,
): Promise<void> {
  const child = startMember(programs, dataDirectory, member, [member]);
  const ended = once(child, 'exit');
  try {
    await serves(member.clientUrl, keys);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** Until a linearizable read, which no learner answers, finds so many keys there. @throws after five minutes */
export async function serves(clientUrl: string, keys: number): Promise<void> {
  const all = { key: 'AA==', range_end: 'AA==', count_only: true };
  let seen = '';
  const served = async () => {
    const { count } = await post(clientUrl, '/v3/kv/range', all);
    seen = `${count} of ${keys} keys`;
    return count === String(keys);
  };
  await until(`${clientUrl} serves all keys`, served, { every: 20, within: 300, last: () => seen });
}
