import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A developer's clone, worked on with system git. */
export interface Clone {
  readonly directory: string;
  /** A file of main as it was last pushed. */
  read(path: string): Promise<string>;
  /** Writes the files, commits and pushes; the SHA. */
  push(message: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** The same on a branch that parts from main here, for a pull request. */
  propose(branch: string, message: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Gets what was merged at the forge. */
  pull(): Promise<void>;
}

export async function clone(url: string, directory: string, token: string): Promise<Clone> {
  const git = async (...args: string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main'];
    const { stdout } = await run('git', [...identity, '-C', directory, ...args], { timeout: 30_000 });
    return stdout.trim();
  };
  await mkdir(directory, { recursive: true });
  await git('init', '-q');
  await git('remote', 'add', 'origin', url);
  // In the clone's own configuration: an argument would show in the process list.
  await git(
    'config',
    `http.${url}.extraHeader`,
    `Authorization: Basic ${Buffer.from(`ada:${token}`).toString('base64')}`,
  );
  async function commit(message: string, files: Readonly<Record<string, string>>, branch: string): Promise<string> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    await git('add', '-A');
    await git('commit', '-q', '-m', message);
    await git('push', '-q', 'origin', `HEAD:${branch}`);
    return git('rev-parse', 'HEAD');
  }
  return {
    directory,
    read: (path) => readFile(join(directory, path), 'utf8'),
    push: (message, files) => commit(message, files, 'main'),
    async propose(branch, message, files) {
      await git('checkout', '-q', '-b', branch);
      const sha = await commit(message, files, branch);
      await git('checkout', '-q', 'main');
      return sha;
    },
    async pull() {
      await git('pull', '-q', '--ff-only', 'origin', 'main');
    },
  };
}
