import { createByteBudget } from '../../gitops/git/budget.ts';
import { connect, type GitConnection } from '../../gitops/git/http.ts';
import { type Resolution, resolveRef } from '../../gitops/git/resolve.ts';
import type { Revision } from '../../gitops/git/revision.ts';
import type { GitSource } from '../../gitops/git/source.ts';
import type { Tree } from '../../gitops/git/tree.ts';
import { proxyFrom } from '../environment.ts';

/** One repository at one ref, asked once however many ask here. */
interface Conversation {
  /** @throws {GitError} */
  resolve(): Promise<Resolution>;
  /** @throws {GitError} */
  fetch(revision: Revision): Promise<Tree>;
}

/**
 * What the fleets of one pass have in common: a monorepo is resolved once and fetched once, whatever their paths are.
 */
export interface SharedGit extends Disposable {
  /** The path does not count. @throws {GitError} ProxyRefused, InvalidCredentials */
  join(source: GitSource): Conversation;
}

/**
 * Fleets share only where url, ref and credentials are the same, so that none reads what its own Secret does not open,
 * and an error that one meets is the error of all who asked the same. Nothing outlives the pass.
 *
 * @param signal for all who share: no one's own patience ends what others wait for
 */
export function shareGit(signal: AbortSignal): SharedGit {
  const budget = createByteBudget();
  const open = new Map<string, Conversation & { readonly git: GitConnection }>();

  function join(source: GitSource): Conversation {
    const key = keyOf(source);
    const known = open.get(key);
    if (known) return known;
    const git = connect({ ...source, path: '.' }, {}, proxyFrom(process.env), budget);
    const fetched = new Map<string, Promise<Tree>>();
    let resolved: Promise<Resolution> | undefined;
    const conversation = {
      git,
      resolve: () => {
        resolved ??= resolveRef(git, signal);
        return resolved;
      },
      fetch: (revision: Revision) => {
        const tree = fetched.get(revision.sha) ?? fetch(git, revision, signal);
        fetched.set(revision.sha, tree);
        return tree;
      },
    };
    open.set(key, conversation);
    return conversation;
  }

  return {
    join,
    [Symbol.dispose]: () => {
      for (const { git } of open.values()) git.close();
      open.clear();
    },
  };
}

/** Loaded only where something is to be fetched. */
async function fetch(git: GitConnection, revision: Revision, signal: AbortSignal): Promise<Tree> {
  const { fetchTree } = await import('../../gitops/git/fetch.ts');
  return fetchTree(git, revision, signal);
}

/** Holds credentials, and so never leaves this file. */
function keyOf({ url, ref, credentials = {} }: GitSource): string {
  const { username, password, token, caBundle } = credentials;
  return JSON.stringify([url.replace(/\/+$/, ''), ref, username, password, token, caBundle]);
}
