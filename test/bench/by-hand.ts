import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../e2e/support/until.ts';

/**
 * Three etcd processes of a static bootstrap, as somebody would start them by hand: seconds until all three are ready.
 */
export async function threeByHand(etcd: string, directory: string): Promise<number> {
  const members = [1, 2, 3].map((n) => ({ name: `m${n}`, address: `127.0.1.${n}` }));
  const list = members.map(({ name, address }) => `${name}=http://${address}:2380`).join(',');
  await mkdir(directory, { recursive: true });
  const started = performance.now();
  const processes = members.map(({ name, address }) =>
    spawn(
      etcd,
      [
        `--name=${name}`,
        `--data-dir=${join(directory, name)}`,
        `--initial-cluster=${list}`,
        `--initial-advertise-peer-urls=http://${address}:2380`,
        `--listen-peer-urls=http://${address}:2380`,
        `--listen-client-urls=http://${address}:2379`,
        `--advertise-client-urls=http://${address}:2379`,
      ],
      { stdio: 'ignore' },
    ),
  );
  try {
    await Promise.all(
      members.map(({ name, address }) => until(`${name} ready`, () => isReady(address), { every: 20 })),
    );
    return (performance.now() - started) / 1000;
  } finally {
    await Promise.all(processes.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

async function isReady(address: string): Promise<boolean> {
  const answer = await fetch(`http://${address}:2379/readyz`, { signal: AbortSignal.timeout(8000) });
  return answer.ok;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
