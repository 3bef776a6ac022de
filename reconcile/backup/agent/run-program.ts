import { spawn } from 'node:child_process';
import { BackupFailure } from '../../jobs/failure.ts';

export interface RunOptions {
  readonly signal: AbortSignal;
  /** What its failure means. */
  readonly failed: (said: string) => BackupFailure;
}

/** So much of what a program says is kept, in characters. */
const kept = 2_000;

/** A program to its end, with an environment of its own: ETCD_… of ours would be its flags. */
export async function run(program: string, args: readonly string[], { signal, failed }: RunOptions): Promise<string> {
  const child = spawn(program, [...args], { env: {}, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let out = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out = (out + text).slice(-kept);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-kept);
  });
  const outcome = await new Promise<number | NodeJS.Signals | Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', (code, by) => resolve(code ?? by ?? 1));
  });
  if (outcome === 0) return out;
  signal.throwIfAborted();
  if (outcome instanceof Error) throw notStarted(program, outcome);
  throw failed(lastWords(said === '' ? out : said, outcome));
}

export function notStarted(program: string, cause: Error): BackupFailure {
  const { code } = cause as NodeJS.ErrnoException;
  return new BackupFailure(
    'InvalidRequest',
    `${program} can't be started (${code ?? cause.message}): give the path of a program for this machine`,
    cause,
  );
}

/** For a message: its last line, which is where Go programs say what is wrong. */
export function lastWords(said: string, outcome: number | string): string {
  const line = said.trim().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? `it ended with ${outcome}` : line.slice(0, 500);
}
