import { GitError } from '../../gitops/git/error.ts';
import type { GitConnection } from '../../gitops/git/http.ts';
import type { FetchedTree, Tree } from '../../gitops/git/tree.ts';
import { fetchMerge } from '../../gitops/merge/fetch-merge.ts';
import { type Merge, mergeTrees } from '../../gitops/merge/merge-trees.ts';
import { isSameTree } from '../../gitops/merge/same-tree.ts';

export interface MergeResult extends Merge {
  /** The target as it is. */
  readonly before: Tree;
  readonly raw: FetchedTree['raw'];
}

/**
 * The fleet's path after the merge, and as it is now. Git merges several bases into one; here each is tried, and only
 * where all lead to the same is that promised. @throws {GitError}
 */
export async function mergeResult(
  git: GitConnection,
  { head, target, targetBranch }: { readonly head: string; readonly target: string; readonly targetBranch: string },
  signal: AbortSignal,
): Promise<MergeResult> {
  const source = await fetchMerge(git, { head, target }, signal);
  const revision = { ref: targetBranch, sha: target };
  const { path } = git.source;
  const asked = { ...source, path, revision, signal };
  const merge = await fetchedAndMerged(asked);
  for (const base of source.otherBases) {
    const other = await fetchedAndMerged({ ...asked, base });
    const isAlike =
      other.conflicts.length === merge.conflicts.length && other.uncertain.length === merge.uncertain.length;
    if (isAlike && (await isSameTree(merge.tree, other.tree))) continue;
    throw new GitError(
      'NoCommonAncestor',
      `the branch and ${targetBranch} were merged crosswise, so the merge result is not certain: merge ${targetBranch} into the branch`,
    );
  }
  const { folder, file, need, raw } = source.objects;
  return { ...merge, before: { revision, root: source.target, folder, file, need }, raw };
}

/** What both sides changed is fetched in one request: merged without it first, only to see what that is. */
async function fetchedAndMerged(asked: Parameters<typeof mergeTrees>[0]): Promise<Merge> {
  const { folder, need } = asked.objects;
  const wanted: string[] = [];
  const objects = {
    folder,
    file: async () => Buffer.alloc(0),
    need: async (oids: readonly string[]) => void wanted.push(...oids),
  };
  await mergeTrees({ ...asked, objects });
  await need(wanted);
  return mergeTrees(asked);
}
