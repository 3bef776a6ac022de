import type { GitConnection } from '../../gitops/http.ts';
import { fetchMerge } from '../../gitops/merge/fetch-merge.ts';
import { type Merge, mergeTrees } from '../../gitops/merge/merge-trees.ts';
import type { Tree } from '../../gitops/tree.ts';

export interface MergeResult extends Merge {
  /** The target as it is. */
  readonly before: Tree;
}

/** What the fleet's path would hold after the merge, and what it holds now. @throws {GitError} */
export async function mergeResult(
  git: GitConnection,
  { head, target, targetBranch }: { readonly head: string; readonly target: string; readonly targetBranch: string },
  signal: AbortSignal,
): Promise<MergeResult> {
  const source = await fetchMerge(git, { head, target }, signal);
  const revision = { ref: targetBranch, sha: target };
  const { path } = git.source;
  const merge = await mergeTrees({ ...source, path, revision, signal });
  const { folder, file } = source.objects;
  return { ...merge, before: { revision, root: source.target, folder, file } };
}
