import { GitError, stopIfAborted } from '../git/error.ts';
import type { Objects, TreeEntry } from '../git/tree.ts';

type Entry = Pick<TreeEntry, 'kind' | 'oid'>;
type Folders = Pick<Objects, 'folder'>;

/** What one side did to files, below the path. */
export interface Moves {
  /** Files that are elsewhere now, with the same bytes: from, and to. Only where no other file has these. */
  readonly renames: ReadonlyMap<string, string>;
  readonly added: readonly string[];
}

/** Git follows no empty file. */
const emptyFile = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
/** Folders that one side changed: of more, no file is followed. */
const mostFolders = 20_000;

/** @throws GitError BadAnswer, Aborted, TooLarge */
export async function movesBetween(
  objects: Folders,
  before: Entry | undefined,
  after: Entry | undefined,
  signal: AbortSignal | undefined,
): Promise<Moves> {
  const gone = new Map<string, string>();
  const come = new Map<string, string>();
  let folders = 0;

  async function compare(path: string, a: Entry | undefined, b: Entry | undefined): Promise<void> {
    if (a?.oid === b?.oid && a?.kind === b?.kind) return;
    if (a?.kind === 'file' && b?.kind !== 'file') gone.set(path, a.oid);
    if (b?.kind === 'file' && a?.kind !== 'file') come.set(path, b.oid);
    if (a?.kind !== 'folder' && b?.kind !== 'folder') return;
    stopIfAborted(signal);
    if (++folders > mostFolders) throw new GitError('TooLarge', `more than ${mostFolders} folders changed`);
    const [ours, theirs] = [await entriesOf(a), await entriesOf(b)];
    for (const name of new Set([...ours.keys(), ...theirs.keys()]))
      await compare(path === '' ? name : `${path}/${name}`, ours.get(name), theirs.get(name));
  }

  async function entriesOf(entry: Entry | undefined): Promise<ReadonlyMap<string, Entry>> {
    const list = entry?.kind === 'folder' ? await objects.folder(entry.oid) : [];
    return new Map(list.map(({ name, kind, oid }) => [name, { kind, oid }]));
  }

  await compare('', before, after);
  const from = alone(gone);
  const to = alone(come);
  const renames = [...from].flatMap(([oid, path]) => {
    const target = to.get(oid);
    return target === undefined || oid === emptyFile ? [] : [[path, target] as const];
  });
  return { renames: new Map(renames), added: [...come.keys()] };
}

/** By object name: files whose bytes no other of them has. */
function alone(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const byName = Map.groupBy(files, ([, oid]) => oid);
  return new Map(
    [...byName].flatMap(([oid, [first, ...others]]) => (first && others.length === 0 ? [[oid, first[0]]] : [])),
  );
}

export interface Sides {
  readonly before: Entry | undefined;
  readonly ours: Entry | undefined;
  readonly theirs: Entry | undefined;
}

export interface Followed extends Sides {
  /** Files that both sides moved, or one moved and the other deleted, or to whose folder it adds: Git asks a person. */
  readonly conflicts: readonly string[];
}

interface Trees extends Folders {
  readonly make: (entries: readonly TreeEntry[]) => Entry;
  readonly at: (root: Entry | undefined, segments: readonly string[]) => Promise<Entry | undefined>;
}

/** Each is put into folders anew. */
const mostRenames = 500;

/**
 * The three sides as if each file that one of them moved had always been there, so that what the other changed in it
 * meets it. `undefined`: none moved, or too many did. @throws GitError
 */
export async function followRenames(
  sides: Sides,
  moved: { readonly ours: Moves; readonly theirs: Moves },
  { folder, make, at }: Trees,
): Promise<Followed | undefined> {
  let { before, ours, theirs } = sides;
  if (moved.ours.renames.size + moved.theirs.renames.size === 0) return undefined;
  if (moved.ours.renames.size + moved.theirs.renames.size > mostRenames) return undefined;
  const conflicts = new Set<string>();

  for (const [mine, other, side] of [
    [moved.ours, moved.theirs, 'theirs'],
    [moved.theirs, moved.ours, 'ours'],
  ] as const) {
    for (const [from, to] of mine.renames) {
      const isGrown = other.added.some((path) => isInGone(path, from));
      if (isGrown && (await isFolderGone(side === 'theirs' ? sides.ours : sides.theirs, from))) {
        conflicts.add(from);
        continue;
      }
      const standing = side === 'theirs' ? theirs : ours;
      const there = await at(standing, from.split('/'));
      const elsewhere = other.renames.get(from);
      if (there?.kind !== 'file') {
        if (elsewhere !== to) conflicts.add(from);
        continue;
      }
      const isTaken =
        (await at(standing, to.split('/'))) !== undefined || (await at(before, to.split('/'))) !== undefined;
      if (isTaken) continue;
      before = await move(before, from, to);
      if (side === 'theirs') theirs = await move(theirs, from, to);
      else ours = await move(ours, from, to);
    }
  }
  return { before, ours, theirs, conflicts: [...conflicts] };

  /** Git asks a person where a file belongs that comes to a folder of which all went elsewhere. */
  async function isFolderGone(side: Entry | undefined, from: string): Promise<boolean> {
    const slash = from.lastIndexOf('/');
    return slash > 0 && (await at(side, from.slice(0, slash).split('/'))) === undefined;
  }

  async function move(root: Entry | undefined, from: string, to: string): Promise<Entry | undefined> {
    const entry = await at(root, from.split('/'));
    return put(await put(root, from.split('/'), undefined), to.split('/'), entry);
  }

  async function put(
    root: Entry | undefined,
    [name = '', ...rest]: readonly string[],
    value: Entry | undefined,
  ): Promise<Entry | undefined> {
    const entries = root?.kind === 'folder' ? await folder(root.oid) : [];
    const old = entries.find((one) => one.name === name);
    const changed = rest.length === 0 ? value : await put(old, rest, value);
    const kept = entries.filter((one) => one !== old);
    const all = changed ? [...kept, { kind: changed.kind, oid: changed.oid, name }] : kept;
    return all.length === 0 ? undefined : make(all);
  }
}

function isInGone(path: string, from: string): boolean {
  const slash = from.lastIndexOf('/');
  return slash > 0 && path.startsWith(from.slice(0, slash + 1));
}
