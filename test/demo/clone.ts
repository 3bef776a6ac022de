import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A developer's clone, worked on with system git. */
export interface Clone {
  readonly directory: string;
  /** Writes the files, commits and pushes; the SHA. */
  push(message: string, files: Readonly<Record<string, string>>): Promise<string>;
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
  return {
    directory,
    async push(message, files) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(directory, path)), { recursive: true });
        await writeFile(join(directory, path), text);
      }
      await git('add', '-A');
      await git('commit', '-q', '-m', message);
      await git('push', '-q', 'origin', 'HEAD:main');
      return git('rev-parse', 'HEAD');
    },
  };
}
