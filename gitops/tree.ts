import { GitError } from './error.ts';
import { isSha, type Revision } from './revision.ts';
import { indexPack, type PackObject } from './wire/pack-index.ts';

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

/** What packs hold, by object name. */
export interface Objects extends Pick<Tree, 'folder' | 'file'> {
  /** `undefined` if it is not there: history is fetched only so deep. @throws GitError BadAnswer if it is damaged */
  commit(sha: string): Promise<Commit | undefined>;
}

export interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Seconds since the epoch, as whoever committed says. */
  readonly at: number;
}

/**
 * Opens the commit that a pack holds.
 *
 * @throws GitError CommitNotFound if the object is not a commit, BadAnswer if the pack lacks objects, TooLarge
 */
export async function openPack(pack: Buffer, revision: Revision): Promise<Tree> {
  const { commit, folder, file } = await openPacks([pack], revision);
  const found = await commit(revision.sha);
  if (!found) throw lacking(revision, 'the commit');
  return { revision, root: found.tree, folder, file };
}

/**
 * Opens packs that were fetched for a revision; what one holds need not be in the others.
 *
 * @throws GitError BadAnswer, TooLarge
 */
export async function openPacks(packs: readonly Buffer[], revision: Revision): Promise<Objects> {
  const indexes = await Promise.all(packs.map(indexPack));

  function find(oid: string): PackObject | undefined {
    for (const index of indexes) {
      const object = index.read(oid);
      if (object) return object;
    }
    return undefined;
  }

  function content(oid: string, wanted: 'tree' | 'blob', what: string): Buffer {
    const object = find(oid);
    if (object?.type !== wanted) throw lacking(revision, `${what} ${oid}`);
    return object.data;
  }

  return {
    commit: async (sha) => {
      const object = find(sha);
      if (object && object.type !== 'commit') {
        throw new GitError(
          'CommitNotFound',
          `${revision.ref} names a ${object.type}, not a commit: name a branch, a tag of a commit, or a commit`,
        );
      }
      return object && commitOf(object.data, revision);
    },
    folder: async (oid) => [...entriesOf(content(oid, 'tree', 'folder'), () => lacking(revision, `folder ${oid}`))],
    file: async (oid) => content(oid, 'blob', 'file'),
  };
}

/** Lines of a key and a value, up to the empty one before the message. */
function commitOf(data: Buffer, revision: Revision): Commit {
  const text = data.toString('latin1');
  const lines = text.slice(0, Math.max(0, text.indexOf('\n\n'))).split('\n');
  const named = (key: string) =>
    lines.flatMap((line) => (line.startsWith(`${key} `) ? [line.slice(key.length + 1)] : []));
  const [tree] = named('tree');
  const [, at] = /> (\d{1,15}) [-+]\d{4}$/.exec(named('committer')[0] ?? '') ?? [];
  if (!tree || !isSha(tree) || at === undefined) throw lacking(revision, 'a commit');
  return { tree, parents: named('parent').filter(isSha), at: Number(at) };
}

function lacking({ sha }: Revision, what: string, cause?: unknown): GitError {
  return new GitError('BadAnswer', `the Git server's data for ${sha} lacks or damages ${what}`, { cause });
}

/** `<mode> <name>\0<20 bytes>`, repeated. Any name will do: nothing is ever checked out here. */
function* entriesOf(tree: Buffer, damage: () => GitError): Generator<TreeEntry> {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > tree.length) throw damage();
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
