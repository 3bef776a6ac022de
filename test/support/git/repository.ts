import { mkdir } from 'node:fs/promises';
import { git } from './git.ts';

/** What a file of a test commit is: text, bytes, a link, or another repository's commit. */
export type FileContent = string | Buffer | { readonly symlink: string } | { readonly submodule: string };

export interface CommitOptions {
  /** Default `main`. */
  readonly branch?: string;
  /**
   * `true`: the files are added to (or, as `undefined`, removed from) what the branch holds; else they are everything.
   */
  readonly keep?: boolean;
  readonly message?: string;
  /** `true`: a commit without parents, as after a force-push of a rewritten history. */
  readonly orphan?: boolean;
}

export interface Repository {
  readonly directory: string;
  /** Commits these files; the SHA. */
  commit(files: Readonly<Record<string, FileContent | undefined>>, options?: CommitOptions): Promise<string>;
  /** Runs system git in the (bare) repository. */
  git(...args: string[]): Promise<string>;
}

/** A bare repository whose commits are written by `git fast-import`: one process, however many files. */
export async function createRepository(directory: string): Promise<Repository> {
  await mkdir(directory, { recursive: true });
  await git(directory, ['init', '-q', '--bare', '--initial-branch=main', '.']);
  await git(directory, ['config', 'http.receivepack', 'true']);
  let clock = 1_700_000_000;

  async function commit(
    files: Readonly<Record<string, FileContent | undefined>>,
    options: CommitOptions = {},
  ): Promise<string> {
    const { branch = 'main', keep = false, message = 'Change', orphan = false } = options;
    const ref = `refs/heads/${branch}`;
    const parent = orphan ? '' : await git(directory, ['for-each-ref', '--format=%(objectname)', ref]);
    const stream: Buffer[] = [];
    function line(text: string): void {
      stream.push(Buffer.from(`${text}\n`));
    }
    function data(content: string | Buffer): void {
      const bytes = Buffer.from(content as string);
      stream.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'));
    }

    if (orphan) line(`reset ${ref}`);
    line(`commit ${ref}`);
    line(`committer Ada <ada@example.com> ${clock++} +0000`);
    data(message);
    if (parent) line(`from ${parent}`);
    if (!keep) line('deleteall');
    for (const [path, content] of Object.entries(files)) {
      if (content === undefined) line(`D ${JSON.stringify(path)}`);
      else if (typeof content === 'string' || Buffer.isBuffer(content)) {
        line(`M 100644 inline ${JSON.stringify(path)}`);
        data(content);
      } else if ('symlink' in content) {
        line(`M 120000 inline ${JSON.stringify(path)}`);
        data(content.symlink);
      } else line(`M 160000 ${content.submodule} ${JSON.stringify(path)}`);
    }
    await git(directory, ['fast-import', '--quiet', '--force'], Buffer.concat(stream));
    return git(directory, ['rev-parse', ref]);
  }

  return { directory, commit, git: (...args) => git(directory, args) };
}
