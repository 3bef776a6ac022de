import type { Objects } from '../git/tree.ts';
import { takeTurns } from '../turns.ts';
import { SignatureRefusal } from './refusal.ts';
import { readCommitObject } from './signed-object.ts';

export type Line =
  /** The newest first, without any that the last verified commit has in its own history. */
  | { readonly kind: 'line'; readonly line: readonly string[] }
  | { readonly kind: 'too-long' }
  /** The last verified commit is not in this history, as far as it was fetched. */
  | { readonly kind: 'apart' };

interface History extends Pick<Objects, 'raw'> {
  /** Commits of the line that are looked at. */
  readonly most: number;
}

/**
 * First parents from the head back to the last verified commit, or to what that had before it: each push and each
 * merge. For what a merge brought in from the side, its signer vouches. The server is not believed: a commit counts as
 * known only where fetched commits lead to it. @throws GitError
 */
export async function lineSince(history: History, head: string, since: string, signal: AbortSignal): Promise<Line> {
  const direct = await firstParents(history, head, (sha) => sha === since);
  if (direct.kind === 'met') return { kind: 'line', line: direct.line };
  // Or the branch was led past it: merged into another one, which then took its place.
  const before = await ancestorsOf(history, since, signal);
  const isContained = before.size > 0 && (await ancestorsOf(history, head, signal)).has(since);
  if (!isContained) return { kind: direct.kind === 'too-long' ? 'too-long' : 'apart' };
  const round = await firstParents(history, head, (sha) => before.has(sha));
  if (round.kind === 'met') return { kind: 'line', line: round.line };
  return { kind: round.kind === 'too-long' ? 'too-long' : 'apart' };
}

async function firstParents(
  history: History,
  head: string,
  isKnown: (sha: string) => boolean,
): Promise<{ readonly kind: 'met' | 'too-long' | 'ended'; readonly line: readonly string[] }> {
  const line: string[] = [];
  for (let sha: string | undefined = head; sha !== undefined; ) {
    if (isKnown(sha)) return { kind: 'met', line };
    if (line.length === history.most) return { kind: 'too-long', line };
    const parents: readonly string[] | undefined = await parentsOf(history, sha);
    if (!parents) return { kind: 'ended', line };
    line.push(sha);
    sha = parents[0];
  }
  return { kind: 'ended', line };
}

/** Itself included; empty where it was not fetched. */
async function ancestorsOf(history: History, start: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  const open = [start];
  const turns = takeTurns(signal);
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (reached.has(sha)) continue;
    await turns.next();
    const parents = await parentsOf(history, sha);
    if (!parents) continue;
    reached.add(sha);
    open.push(...parents);
  }
  return reached;
}

/** `undefined`: it was not fetched, or can't be read, and then leads nowhere. */
async function parentsOf({ raw }: History, sha: string): Promise<readonly string[] | undefined> {
  const found = await raw(sha);
  if (found?.type !== 'commit') return undefined;
  try {
    return readCommitObject(found.bytes).parents;
  } catch (error) {
    if (error instanceof SignatureRefusal) return undefined;
    throw error;
  }
}
