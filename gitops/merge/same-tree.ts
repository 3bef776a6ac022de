import type { Tree, TreeEntry } from '../git/tree.ts';

/** Whether two trees hold the same. What has the same object name is not gone into. @throws GitError BadAnswer */
export async function isSameTree(a: Tree, b: Tree): Promise<boolean> {
  return isSameEntry({ kind: 'folder', oid: a.root }, { kind: 'folder', oid: b.root });

  async function isSameEntry(one: Entry, other: Entry): Promise<boolean> {
    if (one.kind !== other.kind) return false;
    // What was merged in memory is named by a count, and each merge counts for itself.
    const [isMade, isOtherMade] = [one, other].map(({ oid }) => !/^[0-9a-f]{40}$/.test(oid));
    if (!isMade && !isOtherMade && one.oid === other.oid) return true;
    if (one.kind === 'folder') return isSameFolder(await a.folder(one.oid), await b.folder(other.oid));
    if (one.kind !== 'file' || (!isMade && !isOtherMade)) return false;
    return Buffer.compare(await a.file(one.oid), await b.file(other.oid)) === 0;
  }

  async function isSameFolder(entries: readonly TreeEntry[], others: readonly TreeEntry[]): Promise<boolean> {
    if (entries.length !== others.length) return false;
    const byName = new Map(others.map((entry) => [entry.name, entry]));
    for (const entry of entries) {
      const other = byName.get(entry.name);
      if (!other || !(await isSameEntry(entry, other))) return false;
    }
    return true;
  }
}

type Entry = Pick<TreeEntry, 'kind' | 'oid'>;
