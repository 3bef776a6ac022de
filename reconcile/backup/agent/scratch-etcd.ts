import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { scratchEtcdArgs } from '../../../manifests/render/scratch.ts';
import { BackupFailure } from '../../jobs/failure.ts';
import { lastWords, notStarted } from './run-program.ts';

/** A real etcd on loopback, alone, on a restored data directory. */
export interface ScratchEtcd extends AsyncDisposable {
  readonly endpoint: string;
}

export interface ScratchOptions {
  /** The program. */
  readonly etcd: string;
  readonly name: string;
  readonly dataDirectory: string;
  readonly clientPort: number;
  readonly peerUrl: string;
  /** A directory with its certificates. */
  readonly tls: string;
  readonly signal: AbortSignal;
  /** Resolves when it answers. */
  readonly ready: (endpoint: string) => Promise<boolean>;
}

export async function startScratchEtcd(options: ScratchOptions): Promise<ScratchEtcd> {
  const { etcd, signal } = options;
  const endpoint = `https://127.0.0.1:${options.clientPort}`;
  const args = scratchEtcdArgs({ ...options, clientUrl: endpoint });
  const child = spawn(etcd, args, { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  let failure: Error | undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  child.once('error', (error) => {
    failure = error;
  });
  const ended = once(child, 'close').catch(() => undefined);
  const stop = async () => {
    child.kill('SIGKILL');
    if (child.pid !== undefined) await ended;
  };
  try {
    while (!(await options.ready(endpoint))) {
      if (failure !== undefined) throw notStarted(etcd, failure);
      const outcome = child.exitCode ?? child.signalCode;
      if (outcome !== null) throw notServed(lastWords(said, outcome));
      await pause(50, undefined, { signal });
    }
  } catch (error) {
    await stop();
    signal.throwIfAborted();
    throw error;
  }
  return { endpoint, [Symbol.asyncDispose]: stop };
}

function notServed(said: string): BackupFailure {
  return new BackupFailure(
    'NotRestorable',
    `etcd does not start on the restored snapshot: ${said}; use another backup`,
  );
}
