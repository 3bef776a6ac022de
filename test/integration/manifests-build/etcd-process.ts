import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * One etcd started from the arguments and variables of a pod, on a loopback address of its own instead of the pod's.
 */
export interface EtcdProcess {
  /**
   * Resolves when `/readyz` on the metrics port answers 200. @throws {Error} with etcd's last words when it ends
   * before.
   */
  ready(): Promise<void>;
  /** Its exit code, and what it said. @throws {Error} when it still runs after the deadline. */
  exit(): Promise<{ readonly code: number | null; readonly said: string }>;
  /** SIGTERM, as kubelet does, then waits. */
  stop(): Promise<void>;
}

const deadlineMs = 30_000;

/** Any of 127/8 can be listened on without setup, so two runs at once take different ones and the pods' own ports. */
export function ownAddress(): string {
  const part = () => 1 + Math.floor(Math.random() * 250);
  return `127.${part()}.${part()}.${part()}`;
}

export function startEtcd(
  binary: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): EtcdProcess {
  const child = spawn(binary, [...args], { env: { ...variables }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-20_000);
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, said }));
  const url = `${metricsUrl(args)}/readyz`;
  return {
    ready: () => untilReady(child, url, () => said),
    exit: () =>
      withDeadline(
        ended,
        () => `etcd still runs: ${said.slice(-2000)}`,
        () => child.kill('SIGKILL'),
      ),
    stop: async () => {
      child.kill('SIGTERM');
      await withDeadline(
        ended,
        () => 'etcd ignored SIGTERM',
        () => child.kill('SIGKILL'),
      );
    },
  };
}

function metricsUrl(args: readonly string[]): string {
  const flag = '--listen-metrics-urls=';
  return args.find((arg) => arg.startsWith(flag))?.slice(flag.length) ?? '';
}

async function untilReady(child: ChildProcess, url: string, said: () => string): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (await answers(url)) return;
    await pause(50);
  }
  throw new Error(`etcd is not ready at ${url} (exit code ${child.exitCode}): ${said().slice(-2000)}`);
}

/** Not yet listening is an answer too, and the only error that is expected here. */
async function answers(url: string): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(10_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

async function withDeadline<T>(promise: Promise<T>, problem: () => string, giveUp: () => void): Promise<T> {
  const timer = new AbortController();
  const late = pause(deadlineMs, undefined, { signal: timer.signal }).then(() => {
    giveUp();
    throw new Error(problem());
  });
  // Cancelled when the promise was first; that rejection says nothing.
  late.catch(() => undefined);
  return await Promise.race([promise, late]).finally(() => timer.abort());
}
