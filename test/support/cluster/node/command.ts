import { spawn } from 'node:child_process';

/**
 * Runs a short helper program to its end and returns what it printed.
 *
 * @throws Error with the program's own words when it fails or takes longer than `timeoutMs`.
 */
export function run(
  command: string,
  args: readonly string[],
  { input = '', timeoutMs = 10_000 }: { input?: string; timeoutMs?: number } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    // EPIPE: it ended without reading all of its input; its exit code says whether that is a failure.
    child.stdin.on('error', () => undefined).end(input);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${command} ${args.join(' ')}: ${signal ?? `exit ${code}`}: ${stderr.trim()}`));
    });
  });
}

/** One word for /bin/sh, whatever is in it. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
