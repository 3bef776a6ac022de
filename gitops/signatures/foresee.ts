import { GitError, type GitReason } from '../git/error.ts';
import { SignatureRefusal } from './refusal.ts';
import { readCommitObject } from './signed-object.ts';
import type { Asked } from './verification.ts';
import { verifyTree } from './verify.ts';

/** What can be known of the signatures of a merge before it is made. */
export interface MergeSignatures {
  /** Why whatever is merged into the target would be refused, until that is mended. */
  readonly refused?: string;
  /** Why the head itself would be refused, if the branch were only moved forward to it. */
  readonly head?: string;
  /** Why nothing can be known of it: the keys can't be used. Until they can, every merge is refused. */
  readonly unusable?: string;
}

/** A verdict on commits; what a server did wrong is none. */
const verdicts: readonly GitReason[] = [
  'CommitNotSigned',
  'SignerNotTrusted',
  'SignatureInvalid',
  'HistoryNotVerified',
];

/**
 * A merge commit is not there before the merge, so nothing is said about its signer. Known is whether the target's own
 * history is refused, and whether the head could be the branch's without a merge commit.
 * @param asked about the target, whose tree knows the head's commit as well @throws GitError
 */
export async function foreseeSignatures(asked: Asked, head: string): Promise<MergeSignatures> {
  try {
    return await foreseen(asked, head);
  } catch (error) {
    if (error instanceof GitError && error.reason === 'TrustedKeysUnusable') return { unusable: error.message };
    throw error;
  }
}

async function foreseen(asked: Asked, head: string): Promise<MergeSignatures> {
  const { tree, verification } = asked;
  // With `Head` a signed merge mends what stands at the branch.
  const refused = verification.mode === 'HeadAndMerges' ? await refusalOf(() => verifyTree(asked)) : undefined;
  const atHead = { ...tree, root: await rootOf(asked, head), revision: { ...tree.revision, sha: head } };
  const ofHead = { ...asked, tree: atHead, verification: { ...verification, mode: 'Head' } } as const;
  const own = await refusalOf(() => verifyTree(ofHead));
  return { ...(refused !== undefined && { refused }), ...(own !== undefined && { head: own }) };
}

/** Empty where the commit can't be read, which is refused then. */
async function rootOf({ tree }: Asked, sha: string): Promise<string> {
  const found = await tree.raw(sha);
  try {
    return found ? readCommitObject(found.bytes).tree : '';
  } catch (error) {
    if (error instanceof SignatureRefusal) return '';
    throw error;
  }
}

async function refusalOf(verify: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await verify();
    return undefined;
  } catch (error) {
    if (error instanceof GitError && verdicts.includes(error.reason)) return error.message;
    throw error;
  }
}
