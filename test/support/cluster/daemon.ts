import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A fifth of the API server's time went into collecting garbage (measured): it may let its heap grow to five times what
 * is alive, up to a limit for each of them.
 */
const heaps = { GOGC: '400', GOMEMLIMIT: '600MiB' } as const;

/** A long-running program of the local cluster, its output in a file. */
export interface Daemon {
  readonly name: string;
  readonly log: string;
  /** Resolves with what ended it, also when it was `stop` that did. */
  readonly ended: Promise<string>;
  /** To it alone, whatever it has started. */
  signal(name: NodeJS.Signals): void;
  /** SIGTERM, then SIGKILL after the grace in milliseconds. Resolves once it is gone. */
  stop(graceMilliseconds?: number): Promise<void>;
}

export function startDaemon(binary: string, args: readonly string[], log: string): Daemon {
  const name = basename(log, '.log');
  const output = openSync(log, 'a');
  const child = spawn(binary, args, { stdio: ['ignore', output, output], env: { ...heaps, ...process.env } });
  closeSync(output);
  const ended = untilEnded(child);
  return {
    name,
    log,
    ended,
    signal: (name) => {
      child.kill(name);
    },
    async stop(graceMilliseconds = 5_000) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMilliseconds);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Polls until `check` holds.
 *
 * @throws when the daemon ends first, or the time is over; both with the last lines of its log.
 */
export async function untilReady(
  daemon: Daemon,
  check: (signal: AbortSignal) => Promise<boolean>,
  milliseconds = 60_000,
): Promise<void> {
  const deadline = AbortSignal.timeout(milliseconds);
  let end: string | undefined;
  daemon.ended.then((why) => {
    end = why;
  });
  while (!(await check(AbortSignal.any([deadline, AbortSignal.timeout(2_000)])).catch(() => false))) {
    if (end !== undefined) throw new Error(`${daemon.name} ended (${end}):\n${await lastLines(daemon.log)}`);
    if (deadline.aborted) {
      throw new Error(`${daemon.name} was not ready after ${milliseconds / 1000} s:\n${await lastLines(daemon.log)}`);
    }
    await delay(50);
  }
}

export async function lastLines(log: string, count = 15): Promise<string> {
  const text = await readFile(log, 'utf8');
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

function untilEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}
