import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { PodSpec } from '../../../manifests/kube-types.ts';
import { dataDirectory } from '../../../manifests/render/etcd-args.ts';
import { scratchUrls } from '../../../manifests/render/scratch.ts';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import { lastLine } from '../../../reconcile/cluster/observe/slots.ts';

/** A Job's containers as rendered, run here one by one. */
export interface JobHere {
  /** What the agent of a container is asked. */
  request(container: string): Readonly<Record<string, unknown>>;
  args(container: string): readonly string[];
}

/** With our own volume and ports in the place of the pod's. */
export async function jobHere({ initContainers = [], containers }: PodSpec, mount: string): Promise<JobHere> {
  const clientPort = await freePort();
  const peerPort = await freePort(undefined, [clientPort]);
  const here = (text: string) =>
    text
      .replaceAll(dirname(dataDirectory), mount)
      .replaceAll(scratchUrls.clientUrl, `https://127.0.0.1:${clientPort}`)
      .replaceAll(scratchUrls.peerUrl, `http://127.0.0.1:${peerPort}`);
  const containerOf = (name: string) =>
    [...initContainers, ...containers].find((one) => one.name === name) ?? assert.fail(name);
  return {
    request: (name) => {
      const json = containerOf(name).env?.find((one) => one.name === 'RATCHET_BACKUP_REQUEST')?.value ?? '{}';
      return JSON.parse(here(json)) as Record<string, unknown>;
    },
    args: (name) => (containerOf(name).args ?? []).map(here),
  };
}

export interface Started extends AsyncDisposable {
  /** The last of what it wrote. */
  said(): string;
  /** What kubelet has of its end, if it ended by itself. */
  ended(): { readonly code: number; readonly words: string } | undefined;
}

export function started(etcd: string, args: readonly string[]): Started {
  const child = spawn(etcd, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
  const closed = once(child, 'close');
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  return {
    said: () => said,
    ended: () => (child.exitCode === null ? undefined : { code: child.exitCode, words: lastLine(said) }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

/** A small volume of its own, for as long as that takes. */
export async function onSmallVolume<T>(mount: string, megabytes: number, work: () => Promise<T>): Promise<T> {
  const run = promisify(execFile);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'cramped', mount]);
  try {
    return await work();
  } finally {
    await run('umount', [mount]);
  }
}
