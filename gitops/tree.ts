import { GitError } from './error.ts';
import { memoryFs } from './memory-fs.ts';
import type { Revision } from './revision.ts';
import { assertBounded } from './wire/pack-bounds.ts';

export interface TreeEntry {
  readonly name: string;
  readonly kind: 'folder' | 'file' | 'symlink' | 'submodule';
  readonly oid: string;
}

/** The files of one commit. */
export interface Tree {
  readonly revision: Revision;
  /** Object name of the root folder. */
  readonly root: string;
  /** @throws GitError BadAnswer if the object is missing or not a folder */
  folder(oid: string): Promise<readonly TreeEntry[]>;
  /** @throws GitError BadAnswer if the object is missing or not a file */
  file(oid: string): Promise<Uint8Array>;
}

/**
 * Opens the commit that a pack holds.
 *
 * isomorphic-git is imported here and not at the top: a check that finds nothing new never gets here, and should not pay
 * for it (cold start is a feature).
 *
 * @throws GitError CommitNotFound if the object is not a commit, BadAnswer if the pack lacks objects, TooLarge
 */
export async function openPack(pack: Buffer, revision: Revision): Promise<Tree> {
  assertBounded(pack);
  const git = await import('isomorphic-git');
  const fs = memoryFs();
  const repository = { fs, gitdir: '/git', cache: {} };
  const filepath = 'objects/pack/pack-fetched.pack';
  await fs.promises.writeFile(`/git/${filepath}`, pack);

  async function reading<T>(what: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (cause) {
      throw new GitError('BadAnswer', `the Git server's data for ${revision.sha} lacks or damages ${what}`, { cause });
    }
  }

  await reading('its objects', () => git.indexPack({ ...repository, dir: '/git', filepath }));
  const object = await reading('the commit', () =>
    git.readObject({ ...repository, oid: revision.sha, format: 'content' }),
  );
  if (object.type !== 'commit') {
    throw new GitError(
      'CommitNotFound',
      `${revision.ref} names a ${object.type}, not a commit: name a branch, a tag of a commit, or a commit`,
    );
  }
  const { commit } = await reading('the commit', () => git.readCommit({ ...repository, oid: revision.sha }));

  return {
    revision,
    root: commit.tree,
    folder: (oid) =>
      reading(`folder ${oid}`, async () => {
        const { tree } = await git.readTree({ ...repository, oid });
        return tree.map(({ mode, path, oid }) => ({ name: path, kind: kindOf(mode), oid }));
      }),
    file: (oid) => reading(`file ${oid}`, async () => (await git.readBlob({ ...repository, oid })).blob),
  };
}

function kindOf(mode: string): TreeEntry['kind'] {
  if (/^0?40000$/.test(mode)) return 'folder';
  if (mode === '120000') return 'symlink';
  if (mode === '160000') return 'submodule';
  return 'file';
}
