import { GitError, stopIfAborted } from '../git/error.ts';
import type { Revision } from '../git/revision.ts';
import { pathSegments } from '../git/source.ts';
import type { Objects, Tree, TreeEntry } from '../git/tree.ts';
import type { Problem } from '../specs/problem.ts';
import { mergeText } from './merge-text.ts';
import { type Followed, followRenames, movesBetween, type Sides } from './renames.ts';

export interface MergeInput {
  readonly objects: Pick<Objects, 'folder' | 'file' | 'need'>;
  /** Root folders. */
  readonly base: string;
  readonly head: string;
  readonly target: string;
  /** Only what is under it is merged; the rest is nothing to us. */
  readonly path: string;
  /** How messages name the result. */
  readonly revision: Revision;
  readonly signal?: AbortSignal;
}

export interface Merge {
  /** What would be there after the merge, in memory; where there are conflicts, as the target has it. */
  readonly tree: Tree;
  /** Whether the head's side changed anything under the path at all. */
  readonly touches: boolean;
  /** Whether merging would change anything of the target's under the path. */
  readonly changes: boolean;
  readonly conflicts: readonly Problem[];
  /** What Git may merge, if it finds that a file moved that is gone here: it compares what is in them. */
  readonly uncertain: readonly Problem[];
}

type Entry = Pick<TreeEntry, 'kind' | 'oid'>;

/** Entries that differ on both sides: no person changes that many by hand, and each costs work. */
const maxEntries = 100_000;
const maxConflicts = 100;
const deepest = 100;

/**
 * Merges the head into the target under a path: a file that one side left alone is as the other has it; files that both
 * changed are merged by lines. A file that moved as it was is followed, and one that changed on its way is not.
 * @throws GitError BadAnswer, TooLarge, Aborted
 */
export async function mergeTrees({ objects, base, head, target, path, revision, signal }: MergeInput): Promise<Merge> {
  const made = createMade();
  const folder = made.folderOf(objects);
  const conflicts: Problem[] = [];
  const uncertain: Problem[] = [];
  let count = 0;

  async function merged(
    name: string,
    before: Entry | undefined,
    ours: Entry | undefined,
    theirs: Entry | undefined,
    depth: number,
  ): Promise<Entry | undefined> {
    if (isSame(ours, theirs) || isSame(before, ours)) return theirs;
    if (isSame(before, theirs)) return ours;
    stopIfAborted(signal);
    count++;
    if (count > maxEntries || depth > deepest)
      throw new GitError(
        'TooLarge',
        `more than ${maxEntries} files changed on both sides, or nested too deep: merge it by hand`,
      );
    if (ours?.kind === 'folder' && theirs?.kind === 'folder')
      return mergedFolder(name, before?.kind === 'folder' ? before : undefined, ours, theirs, depth);
    if (before?.kind === 'file' && ours?.kind === 'file' && theirs?.kind === 'file') {
      const oids = [before.oid, ours.oid, theirs.oid];
      await objects.need(oids);
      const [o, a, b] = await Promise.all(oids.map((oid) => objects.file(oid)));
      if (o && a && b) {
        const result = mergeText(o, a, b);
        if (result.kind === 'merged') return made.file(result.bytes);
        conflict(name, result.because, result.line);
        return theirs;
      }
    }
    conflict(name, contradiction(ours, theirs), 0, ours && theirs ? conflicts : uncertain);
    return theirs;
  }

  async function mergedFolder(
    name: string,
    before: Entry | undefined,
    ours: Entry,
    theirs: Entry,
    depth: number,
  ): Promise<Entry> {
    const [o, a, b] = await Promise.all([before, ours, theirs].map(entriesOf));
    if (!o || !a || !b) throw new Error('a merge needs the entries of three folders');
    const names = [...new Set([...b.keys(), ...a.keys(), ...o.keys()])];
    const entries: TreeEntry[] = [];
    for (const child of names) {
      const inside = name === '' ? child : `${name}/${child}`;
      const entry = await merged(inside, o.get(child), a.get(child), b.get(child), depth + 1);
      if (entry) entries.push({ name: child, ...entry });
    }
    return made.folder(entries);
  }

  async function entriesOf(entry: Entry | undefined): Promise<ReadonlyMap<string, Entry>> {
    const list = entry ? await folder(entry.oid) : [];
    const byName = new Map(list.map(({ name, kind, oid }) => [name, { kind, oid }]));
    if (byName.size !== list.length) throw new GitError('BadAnswer', 'a folder of the repository lists one name twice');
    return byName;
  }

  async function at(root: Entry | undefined, segments: readonly string[]): Promise<Entry | undefined> {
    let entry = root;
    for (const name of segments) {
      if (entry?.kind !== 'folder') return undefined;
      entry = (await entriesOf(entry)).get(name);
    }
    return entry;
  }

  function conflict(file: string, because: string, line: number, among = conflicts): void {
    if (among.length >= maxConflicts) return;
    const message = `cannot be merged into ${revision.ref}: ${because}; merge or rebase the branch`;
    among.push({ file, line, column: line === 0 ? 0 : 1, message });
  }

  async function withRenames(sides: Sides): Promise<Followed | undefined> {
    if (isSame(sides.before, sides.ours) || isSame(sides.before, sides.theirs)) return undefined;
    try {
      const [mine, other] = [
        await movesBetween(objects, sides.before, sides.ours, signal),
        await movesBetween(objects, sides.before, sides.theirs, signal),
      ];
      return await followRenames(sides, { ours: mine, theirs: other }, { folder, make: made.folder, at });
    } catch (error) {
      // Then what moved is a conflict, where the other side changed it.
      if (error instanceof GitError && error.reason === 'TooLarge') return undefined;
      throw error;
    }
  }

  const segments = pathSegments(path);
  const [before, ours, theirs] = await Promise.all(
    [base, head, target].map((oid) => at({ kind: 'folder', oid }, segments)),
  );
  const name = segments.join('/');
  const followed = await withRenames({ before, ours, theirs });
  for (const path of followed?.conflicts ?? [])
    conflict(
      name === '' ? path : `${name}/${path}`,
      'one side moved it, and the other moved or deleted it, or added to its folder',
      0,
    );
  const { before: o, ours: a, theirs: b } = followed ?? { before, ours, theirs };
  const result = await merged(name, o, a, b, 0);
  return {
    tree: {
      revision,
      ...rooted(made, segments, result),
      folder,
      file: made.fileOf(objects),
      need: objects.need,
    },
    touches: !isSame(before, ours),
    changes: conflicts.length + uncertain.length > 0 || !isSame(result, theirs),
    conflicts,
    uncertain,
  };
}

/** Folders and files that are nowhere but here. Their names can't be taken for object names. */
function createMade() {
  const folders = new Map<string, readonly TreeEntry[]>();
  const files = new Map<string, Uint8Array>();
  return {
    folder(entries: readonly TreeEntry[]): Entry {
      const oid = `merged folder ${folders.size}`;
      folders.set(oid, entries);
      return { kind: 'folder', oid };
    },
    file(bytes: Uint8Array): Entry {
      const oid = `merged file ${files.size}`;
      files.set(oid, bytes);
      return { kind: 'file', oid };
    },
    folderOf:
      ({ folder }: Pick<Objects, 'folder'>): Tree['folder'] =>
      async (oid) =>
        folders.get(oid) ?? folder(oid),
    fileOf:
      ({ file }: Pick<Objects, 'file'>): Tree['file'] =>
      async (oid) =>
        files.get(oid) ?? file(oid),
  };
}

function rooted(
  made: ReturnType<typeof createMade>,
  segments: readonly string[],
  result: Entry | undefined,
): Pick<Tree, 'root'> {
  let entry = result;
  for (const name of segments.toReversed()) entry = made.folder(entry ? [{ name, ...entry }] : []);
  return { root: entry?.kind === 'folder' ? entry.oid : made.folder([]).oid };
}

function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.oid === b?.oid && a?.kind === b?.kind;
}

function contradiction(ours: Entry | undefined, theirs: Entry | undefined): string {
  if (!ours) return 'the request deletes (or moves) it, and it was changed meanwhile';
  if (!theirs) return 'the request changes it, and it was deleted (or moved) meanwhile';
  return 'both sides replaced it, each with something else';
}
