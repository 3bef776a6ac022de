import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const checkout = join(import.meta.dirname, '../../..');
const ours = join(checkout, 'dist/tick.js');
/** As in the image, where it is filled already. */
const compileCache = join(checkout, 'dist/.compile-cache');

export interface TickOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds until it is killed: a tick that hangs is a failed test, not a hung one. */
  readonly within?: number;
  /** Another bundle than this checkout's. */
  readonly program?: string;
}

export interface TickResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whole process, milliseconds. */
  readonly milliseconds: number;
}

/** Starts one invocation as its own process, of the bundle that a CronJob's pod runs: the runner has built it. */
export function startTick({ args = [], env = {}, program = ours }: TickOptions): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs one invocation to its end. Never throws for its exit code. */
export async function tick(options: TickOptions): Promise<TickResult> {
  const started = performance.now();
  const child = startTick(options);
  const timer = setTimeout(() => child.kill('SIGKILL'), (options.within ?? 60) * 1000);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  clearTimeout(timer);
  return { code, signal, stdout, stderr, milliseconds: performance.now() - started };
}

/**
 * What an invocation may end with, by what it was asked (`tick --help`).
 *
 * @throws {AssertionError} so that no wait passes over it.
 */
export function assertMade(args: readonly string[], ended: Pick<TickResult, 'code' | 'stderr'> & Partial<TickResult>) {
  const allowed = [
    0,
    ...(args.includes('--check') ? [1] : []),
    ...(args.includes('--detailed-exitcode') ? [3, 4] : []),
  ];
  const { code, signal, stderr } = ended;
  assert.ok(code !== null && allowed.includes(code), `tick ${args.join(' ')}: ${code ?? signal}; it said: ${stderr}`);
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}
