import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Measured {
  readonly wallMilliseconds: number;
  readonly cpuMilliseconds: number;
  readonly peakMegabytes: number;
  readonly stdout: string;
}

/** One whole process, from spawn to exit. `options` are Node's. @throws when it does not exit with 0. */
export async function measure(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  options: readonly string[] = [],
): Promise<Measured> {
  const usage = join(import.meta.dirname, 'usage.mjs');
  const started = performance.now();
  const child = spawn(process.execPath, [...options, '--import', usage, script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr, used, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    text(child.stdio[3] as NodeJS.ReadableStream),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  const wallMilliseconds = performance.now() - started;
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} exited with ${code}: ${stderr.slice(-2000)}`);
  return { wallMilliseconds, stdout, ...(JSON.parse(used) as Pick<Measured, 'cpuMilliseconds' | 'peakMegabytes'>) };
}

/** The run in the middle by wall time: one number that a slow neighbour does not move. */
export function median<T>(runs: readonly T[], by: (run: T) => number): T {
  const middle = runs.toSorted((a, b) => by(a) - by(b))[Math.floor(runs.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}

async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  let all = '';
  for await (const chunk of stream ?? []) all += chunk;
  return all;
}
