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
  // The default export: a bundled CommonJS package has no other.
  const { default: git } = await import('isomorphic-git');
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
        const { object, type } = await git.readObject({ ...repository, oid, format: 'content' });
        if (type !== 'tree') throw new Error(`it is a ${type}`);
        return [...entriesOf(Buffer.from(object as Uint8Array))];
      }),
    file: (oid) => reading(`file ${oid}`, async () => (await git.readBlob({ ...repository, oid })).blob),
  };
}

/**
 * `<mode> <name>\0<20 bytes>`, repeated. Read here because isomorphic-git refuses a whole folder for one name that would be
 * unsafe to check out, such as one with a backslash; nothing is ever checked out here.
 */
function* entriesOf(tree: Buffer): Generator<TreeEntry> {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > tree.length) throw new Error('it ends in the middle of an entry');
    const kind = kindOf(tree.toString('latin1', at, space));
    yield { name: tree.toString('utf8', space + 1, end), kind, oid: tree.toString('hex', end + 1, end + 21) };
    at = end + 21;
  }
}

function kindOf(mode: string): TreeEntry['kind'] {
  if (/^0?40000$/.test(mode)) return 'folder';
  if (mode === '120000') return 'symlink';
  if (mode === '160000') return 'submodule';
  return 'file';
}
