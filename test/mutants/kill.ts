import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Killer, nameOf } from './mutant.ts';

/** How a killer ended in a tree. */
export type Verdict =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly by: string; readonly output: string }
  | { readonly kind: 'timed out'; readonly by: string; readonly output: string };

export interface RunOptions {
  readonly directory: string;
  /** Milliseconds after which it is killed. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Runs a test file or a search in a tree, as a process group of its own, so that nothing of it is left. */
export async function run(killer: Killer, { directory, limit, signal }: RunOptions): Promise<Verdict> {
  signal.throwIfAborted();
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  const child = spawn(process.execPath, argumentsOf(killer), {
    cwd: directory,
    env: { ...env, NO_COLOR: '1', NODE_COMPILE_CACHE: join(directory, 'node-compile-cache') },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('close', resolve);
  let isLate = false;
  const killGroup = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(() => {
    isLate = true;
    killGroup();
  }, limit);
  signal.addEventListener('abort', killGroup, { once: true });
  try {
    const code = await promise;
    signal.throwIfAborted();
    const output = Buffer.concat(chunks).toString();
    if (isLate) return { kind: 'timed out', by: nameOf(killer), output };
    return code === 0 ? { kind: 'passed' } : { kind: 'failed', by: culprit(killer, output), output };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', killGroup);
  }
}

function argumentsOf(killer: Killer): string[] {
  if (typeof killer === 'string') return ['--test', '--test-force-exit', '--test-reporter=tap', killer];
  return ['test/mutants/search.ts', killer.search, String(killer.states ?? 30_000)];
}

/** The first test that failed, or what the search found; else the killer itself. */
export function culprit(killer: Killer, output: string): string {
  if (typeof killer !== 'string') {
    const [invariant] = /^(I\d+|convergence)(?=: )/.exec(output) ?? [];
    return invariant === undefined ? nameOf(killer) : `${invariant} in ${nameOf(killer)}`;
  }
  const [, test] = /^ *not ok \d+ - (.+)$/m.exec(output) ?? [];
  return test === undefined ? nameOf(killer) : `"${test.replaceAll('\\#', '#')}" of ${nameOf(killer)}`;
}
