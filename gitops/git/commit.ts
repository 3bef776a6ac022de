export interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Seconds since the epoch, as the committer says; 0 where that can't be read. */
  readonly at: number;
}

/**
 * What we need of a commit, as Git reads it. Of its author nothing: commits without a name, with two authors or with a
 * zone of `+051800` exist (https://github.com/GitoxideLabs/gitoxide/issues/1322), and their trees are sound.
 * @throws Error for none
 */
export function readCommit(bytes: Buffer): Commit {
  const end = bytes.indexOf('\n\n');
  const [first = '', ...lines] = bytes.toString('latin1', 0, end < 0 ? bytes.length : end).split('\n');
  const tree = treeLine.exec(first)?.[1];
  if (tree === undefined) throw new Error('it does not begin with a tree');
  const parents: string[] = [];
  for (const line of lines) {
    const parent = parentLine.exec(line)?.[1];
    if (parent === undefined) break;
    parents.push(parent);
  }
  const committer = lines.find((line) => line.startsWith('committer ')) ?? '';
  const seconds = /^ *(\d{1,15})(?!\d)/.exec(committer.slice(committer.lastIndexOf('>') + 1))?.[1];
  return { tree, parents, at: Number(seconds ?? 0) };
}

const treeLine = /^tree ([\da-f]{40})$/;
const parentLine = /^parent ([\da-f]{40})$/;
