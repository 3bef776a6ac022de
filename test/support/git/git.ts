import { spawn } from 'node:child_process';

/** Git's environment for tests: nothing of the person's own configuration, and the same identity and time for all. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
}

/** The message is what git said. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  /** `null`: a signal ended it. */
  readonly code: number | null;

  constructor(message: string, code: number | null) {
    super(message);
    this.code = code;
  }
}

/** Runs system git; its standard output, trimmed. @throws {GitFailure} */
export async function git(directory: string, args: readonly string[], input?: Buffer): Promise<string> {
  const child = spawn('git', args, { cwd: directory, env: gitEnvironment(), timeout: 60_000 });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject);
  child.on('close', resolve);
  child.stdin.on('error', () => {}); // git may exit before it has read everything; its exit code tells
  child.stdin.end(input);
  const code = await promise;
  if (code !== 0) throw new GitFailure(`git ${args.join(' ')} exited with ${code}: ${Buffer.concat(errors)}`, code);
  return Buffer.concat(output).toString().trim();
}
