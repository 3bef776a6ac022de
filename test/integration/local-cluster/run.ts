import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { until } from '../../e2e/support/until.ts';

const checkout = resolve(import.meta.dirname, '../../..');

/** A run of ours in a process of its own, and all that belongs to it. */
export interface Run {
  readonly child: ChildProcess;
  output(): string;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** PIDs of every process of this run, also those that lost their parents. */
  processes(): Promise<number[]>;
}

export function start(args: readonly string[]): Run {
  const mark = `RATCHET_TEST_MARK=${randomUUID()}`;
  const { NODE_TEST_CONTEXT, ...environment } = process.env;
  const [name = '', value] = mark.split('=');
  const child = spawn(process.execPath, args, {
    cwd: checkout,
    env: { ...environment, [name]: value },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  return { child, output: () => output, ended, processes: () => processesWith(mark) };
}

/** Disposing of it ends it for sure, also when a test fails half-way. */
export interface RunningCluster extends Run, AsyncDisposable {
  /** As somebody outside the sandbox uses it. */
  readonly kubeconfigPath: string;
}

/** `node test/support/cluster/main.ts`, up. */
export async function startCluster(): Promise<RunningCluster> {
  const run = start(['test/support/cluster/main.ts']);
  let over = false;
  run.ended.then(() => {
    over = true;
  });
  await until('the cluster is up', () => over || run.output().includes('It stays until Ctrl-C'));
  const kubeconfigPath = /KUBECONFIG=(\S+)/.exec(run.output())?.[1];
  assert.ok(kubeconfigPath, run.output());
  return {
    ...run,
    kubeconfigPath,
    async [Symbol.asyncDispose]() {
      run.child.kill('SIGKILL');
      await run.ended;
    },
  };
}

/** What a run may have left: processes, mounts in our own mount namespace, its shared files. */
export async function assertNoTrace(run: RunningCluster, mountsBefore: string): Promise<void> {
  await until('its processes are gone', async () => (await run.processes()).length === 0);
  assert.equal(await mounts(), mountsBefore);
  await until('its files are gone', () => !existsSync(dirname(run.kubeconfigPath)));
}

export async function mounts(): Promise<string> {
  return await readFile('/proc/self/mounts', 'utf8');
}

async function processesWith(mark: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process may end between the listing and the reading, and other users' processes can't be read.
    const environment = await readFile(join('/proc', name, 'environ'), 'utf8').catch(() => '');
    if (environment.includes(mark)) found.push(Number(name));
  }
  return found;
}
