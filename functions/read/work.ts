import { createByteBudget } from '../../gitops/git/budget.ts';
import { GitError } from '../../gitops/git/error.ts';
import { fetchTree } from '../../gitops/git/fetch.ts';
import { connect, type GitConnection } from '../../gitops/git/http.ts';
import type { FetchedTree, Tree } from '../../gitops/git/tree.ts';
import type { MergeSignatures } from '../../gitops/signatures/foresee.ts';
import type { Verified } from '../../gitops/signatures/verify.ts';
import type { ParsedBefore } from '../../gitops/specs/documents.ts';
import type { DesiredTree } from '../../reconcile/fleet/reading.ts';
import { networkFrom } from '../environment.ts';
import { ownWait } from '../own-wait.ts';
import { desiredTree, type Reading } from './desired-tree.ts';
import { createFetchCache } from './fetch-cache.ts';
import { type MergeResult, mergeResult } from './merge-result.ts';
import { toPlain } from './plain-tree.ts';
import type { Answer, Failure, MergeTask, ReadTask, Task } from './task.ts';

interface Sharing {
  readonly git: GitConnection;
  readonly tree: Promise<FetchedTree>;
  readonly end: AbortController;
  users: number;
  /** Something was missing: nothing of it is kept. */
  isDoubtful: boolean;
}

export interface Work {
  readonly signal: AbortSignal;
  /** Told before work that may take long, by file. */
  readonly onFile: (file: string) => void;
}

/** Does tasks; those of one repository share what was fetched, while they are under way and after. */
export function createWorkshop(): (task: Task, work: Work) => Promise<Answer> {
  const budget = createByteBudget();
  const cache = createFetchCache(budget);
  const shared = new Map<string, Sharing>();

  async function read(task: ReadTask, { signal, onFile }: Work): Promise<Answer> {
    const { source, revision, terms, fleet } = task;
    const key = JSON.stringify([source.url, revision.sha, source.credentials]);
    const known = shared.get(key);
    const one = known ?? begin();
    one.users++;
    try {
      const tree = await ownWait(one.tree, signal, timeIsUp);
      const verified = await verifiedBy(task, tree, one.git, signal);
      const desired = toPlain(await desiredTree(tree, fleet, { signal, onFile }), false);
      return { kind: 'read', tree: { ...desired, ...(verified && { verified }) } };
    } catch (error) {
      one.isDoubtful ||= isDoubtful(error);
      throw error;
    } finally {
      one.users--;
      if (one.users === 0) {
        one.end.abort();
        if (!one.isDoubtful) cache.put(source, one.git.fetched);
      }
    }

    function begin() {
      const end = new AbortController();
      const git = connect({ ...source, path: '.' }, {}, networkFrom(process.env), budget);
      git.earlier = cache.take(source, git.share);
      git.terms = terms ?? git.earlier?.terms;
      end.signal.addEventListener('abort', () => {
        git.close();
        shared.delete(key);
      });
      const made = { git, tree: fetchTree(git, revision, end.signal), end, users: 0, isDoubtful: false };
      shared.set(key, made);
      return made;
    }
  }

  async function merge(task: MergeTask, work: Work): Promise<Answer> {
    using git = connect(task.source, {}, networkFrom(process.env), budget);
    git.earlier = cache.take(task.source, git.share);
    git.terms = git.earlier?.terms;
    const answer = await merged(git, task, work);
    git.close();
    const isWhole = answer.kind === 'merge' && answer.trees?.kind !== 'failed';
    if (isWhole) cache.put(task.source, git.fetched);
    return answer;
  }

  async function merged(git: GitConnection, task: MergeTask, work: Work): Promise<Answer> {
    const result = await mergeResult(git, task, work.signal);
    const { touches, conflicts, uncertain } = result;
    if (!touches) return { kind: 'merge', touches, conflicts, uncertain };
    const signatures = await foreseenSignatures(git, task, result, work.signal);
    const facts = { kind: 'merge', touches, conflicts, uncertain, ...(signatures && { signatures }) } as const;
    try {
      const parsed: ParsedBefore = new Map();
      const reading = { ...work, before: parsed };
      const before = await treeOrNothing(result.before, task, reading);
      const after = await desiredTree(result.tree, task.fleet, reading);
      return { ...facts, trees: { kind: 'trees', before: toPlain(before, false), after: toPlain(after, true) } };
    } catch (error) {
      return { ...facts, trees: failure(error) };
    }
  }

  return async (task, work) => {
    try {
      switch (task.kind) {
        case 'read':
          return await read(task, work);
        case 'merge':
          return await merge(task, work);
        default:
          return task satisfies never;
      }
    } catch (error) {
      return failure(error);
    }
  };
}

/** The signer, where the fleet asks for one. Loaded only there. @throws GitError */
async function verifiedBy(
  { verification }: ReadTask,
  tree: FetchedTree,
  git: GitConnection,
  signal: AbortSignal,
): Promise<Verified | undefined> {
  if (!verification) return undefined;
  const { verifyTree } = await import('../../gitops/signatures/verify.ts');
  return verifyTree({ git, tree, verification, signal, now: Date.now() / 1000 });
}

/** Of a merge that is not made yet. @throws GitError */
async function foreseenSignatures(
  git: GitConnection,
  { verification, head }: MergeTask,
  { before, raw }: MergeResult,
  signal: AbortSignal,
): Promise<MergeSignatures | undefined> {
  if (!verification) return undefined;
  const { foreseeSignatures } = await import('../../gitops/signatures/foresee.ts');
  return foreseeSignatures({ git, tree: { ...before, raw }, verification, signal, now: Date.now() / 1000 }, head);
}

/** A target whose path is not there yet: the request brings it. */
async function treeOrNothing(tree: Tree, { fleet }: MergeTask, reading: Reading): Promise<DesiredTree> {
  try {
    return await desiredTree(tree, fleet, reading);
  } catch (error) {
    if (!(error instanceof GitError) || error.reason !== 'PathNotFound') throw error;
    return { specs: [], problems: [], files: new Set(), complete: true, notes: [] };
  }
}

function isDoubtful(error: unknown): boolean {
  return !(error instanceof GitError) || error.reason === 'BadAnswer';
}

function failure(error: unknown): Failure {
  if (error instanceof GitError) return { kind: 'failed', reason: error.reason, message: error.message };
  throw error;
}

function timeIsUp(): GitError {
  return new GitError('Aborted', "the invocation's time was used up before the repository was read");
}
