import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type Commit, readCommit } from './commit.ts';
import { GitError } from './error.ts';
import { memoryFs } from './memory-fs.ts';
import { isSha, type Revision } from './revision.ts';
import { type IndexedPack, indexPack, isIndexed } from './wire/pack-index.ts';

export interface TreeEntry {
  readonly name: string;
  readonly kind: 'folder' | 'file' | 'symlink' | 'submodule';
  readonly oid: string;
}

export interface Tree {
  readonly revision: Revision;
  /** Object name of the root folder. */
  readonly root: string;
  /** @throws GitError BadAnswer if the object is missing or not a folder */
  folder(oid: string): Promise<readonly TreeEntry[]>;
  /** @throws GitError BadAnswer if the object is missing or not a file; TooLarge if it is too large to be read */
  file(oid: string): Promise<Uint8Array>;
  /** Fetches the missing ones of these files in one request. Call it before `file` for many. @throws GitError */
  need(oids: readonly string[]): Promise<void>;
}

export interface FetchedTree extends Tree {
  /** A commit or tag as its author wrote it; `undefined` if it is not there. @throws GitError BadAnswer */
  raw(sha: string): Promise<RawObject | undefined>;
}

interface RawObject {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface Objects extends Pick<FetchedTree, 'folder' | 'file' | 'need' | 'raw'> {
  /** All of them, as they are now. */
  readonly packs: readonly IndexedPack[];
  has(oid: string): boolean;
  /** @throws GitError BadAnswer, TooLarge */
  add(pack: Buffer): Promise<void>;
  /** `undefined` if it is not there: history is fetched only so deep. @throws GitError BadAnswer if it is damaged */
  commit(sha: string): Promise<Commit | undefined>;
}

/** The tree of a fetched commit. @throws GitError CommitNotFound for no commit, BadAnswer for missing objects */
export async function treeOf({ commit, folder, file, need, raw }: Objects, revision: Revision): Promise<FetchedTree> {
  const found = await commit(revision.sha);
  if (!found) throw lacking(revision, 'the commit');
  return { revision, root: found.tree, folder, file, need, raw };
}

/** Loads the reader of packs lazily: a check that finds nothing new should not pay for it (cold start is a feature). */
export async function loadReader(): Promise<typeof import('isomorphic-git').default> {
  // The default export: a bundled CommonJS package has no other.
  return (await import('isomorphic-git')).default;
}

/** Files of one request: their names have a megabyte and a half. */
const mostAtOnce = 30_000;

/**
 * Opens packs that were fetched for a revision; objects of one need not be in the others. `earlier` were opened before.
 * @param fetchFiles fetches files that the packs leave out; absent: they leave out none
 * @throws GitError BadAnswer, TooLarge
 */
export async function openPacks(
  packs: readonly Buffer[],
  revision: Revision,
  fetchFiles?: (oids: readonly string[]) => Promise<Buffer>,
  earlier: readonly IndexedPack[] = [],
): Promise<Objects> {
  const git = await loadReader();
  const files = new Map<string, Buffer>();
  const opened: IndexedPack[] = [];
  function put(one: IndexedPack): void {
    const name = `/git/objects/pack/pack-${opened.push(one)}`;
    files.set(`${name}.idx`, one.index);
    files.set(`${name}.pack`, one.pack);
  }
  const add = async (pack: Buffer) => put(await indexPack(pack));
  for (const one of earlier) put(one);
  for (const pack of packs) await add(pack);
  const has = (oid: string) => opened.some(({ index }) => isIndexed(index, oid));
  const repository = { fs: memoryFs(files), gitdir: '/git', cache: {} };

  async function reading<T>(what: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (cause) {
      throw lacking(revision, what, cause);
    }
  }

  async function raw(sha: string): Promise<RawObject | undefined> {
    return named(sha).catch((error: unknown) =>
      isNotFound(error) ? undefined : Promise.reject(lacking(revision, 'a commit', error)),
    );
  }

  /** Only if its bytes have that name: the index was made by our reader of deltas, and they are read by another. */
  async function named(oid: string): Promise<RawObject> {
    const { object, type } = await git.readObject({ ...repository, oid, format: 'content' });
    const bytes = Buffer.from(object as Uint8Array);
    const name = createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
    if (name !== oid) throw new Error('its bytes have another name');
    return { type, bytes };
  }

  async function commit(sha: string): Promise<Commit | undefined> {
    const object = await raw(sha);
    if (!object) return undefined;
    if (object.type !== 'commit') {
      throw new GitError(
        'CommitNotFound',
        `${revision.ref} names a ${object.type}, not a commit: name a branch, a tag of a commit, or a commit`,
      );
    }
    return reading('a commit', async () => readCommit(object.bytes));
  }

  async function need(oids: readonly string[]): Promise<void> {
    const missing = [...new Set(oids)].filter((oid) => isSha(oid) && !has(oid));
    if (!fetchFiles) return;
    for (let at = 0; at < missing.length; at += mostAtOnce)
      await add(await fetchFiles(missing.slice(at, at + mostAtOnce)));
  }

  return {
    packs: opened,
    commit,
    raw,
    has,
    add,
    need,
    folder: (oid) =>
      reading(`folder ${oid}`, async () => {
        const { type, bytes } = await named(oid);
        if (type !== 'tree') throw new Error(`it is a ${type}`);
        return [...entriesOf(bytes)];
      }),
    file: async (oid) => {
      const isLarge = opened.some(({ large }) => large.has(oid));
      if (isLarge || (opened.some(({ leavesOut }) => leavesOut) && !has(oid)))
        throw new GitError('TooLarge', `file ${oid} is too large to be read, or stored as a change of one that is`);
      return reading(`file ${oid}`, async () => {
        const { type, bytes } = await named(oid);
        if (type !== 'blob') throw new Error(`it is a ${type}`);
        return bytes;
      });
    },
  };
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NotFoundError';
}

function lacking({ sha }: Revision, what: string, cause?: unknown): GitError {
  return new GitError('BadAnswer', `the Git server's data for ${sha} lacks or damages ${what}`, { cause });
}

/**
 * `<mode> <name>\0<20 bytes>`, repeated. isomorphic-git refuses a whole folder for one name that is unsafe to check out
 * (a backslash), so we read it ourselves: nothing is ever checked out here.
 */
function* entriesOf(tree: Buffer): Generator<TreeEntry> {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > tree.length) throw new Error('it ends in the middle of an entry');
    const kind = kindOf(tree.toString('latin1', at, space));
    yield { name: nameOf(tree.subarray(space + 1, end)), kind, oid: tree.toString('hex', end + 1, end + 21) };
    at = end + 21;
  }
}

/** A name is bytes. What is not UTF-8 of it is written as Git writes it, so that two names never read as one. */
function nameOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const escaped = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`;
  return [...bytes].map((byte) => (byte < 0x20 || byte > 0x7e ? escaped(byte) : String.fromCharCode(byte))).join('');
}

function kindOf(mode: string): TreeEntry['kind'] {
  if (/^0?40000$/.test(mode)) return 'folder';
  if (mode === '120000') return 'symlink';
  if (mode === '160000') return 'submodule';
  return 'file';
}
