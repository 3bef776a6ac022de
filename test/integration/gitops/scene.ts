import { fetchTree } from '../../../gitops/git/fetch.ts';
import { connect, type GitConnection, type GitLimits } from '../../../gitops/git/http.ts';
import { type Resolution, resolveRef } from '../../../gitops/git/resolve.ts';
import type { GitSource } from '../../../gitops/git/source.ts';
import type { Tree } from '../../../gitops/git/tree.ts';
import { readDocuments } from '../../../gitops/specs/documents.ts';
import { findSpecs, type Specs } from '../../../gitops/specs/specs.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { localNetwork } from '../../support/network.ts';

export function source(url: string, change: Partial<GitSource> = {}): GitSource {
  return { url, ref: 'main', path: '', ...change };
}

/** Nothing in these tests may hang: every conversation has this long. */
export function inTime(ms = 20_000): AbortSignal {
  return AbortSignal.timeout(ms);
}

export async function resolve(from: GitSource, limits?: Partial<GitLimits>): Promise<Resolution> {
  using git = connect(from, limits, localNetwork);
  return await resolveRef(git, inTime());
}

export interface Fetched {
  readonly revision: Resolution;
  readonly tree: Tree;
  readonly requests: number;
}

export async function fetched(from: GitSource, limits?: Partial<GitLimits>): Promise<Fetched> {
  using git: GitConnection = connect(from, limits, localNetwork);
  const revision = await resolveRef(git, inTime());
  const tree = await fetchTree(git, revision, inTime());
  return { revision, tree, requests: git.requests() };
}

export async function specsOf(
  from: GitSource,
  signal = inTime(),
): Promise<Specs & { readonly notes: readonly string[]; readonly files: number }> {
  const { tree } = await fetched(from);
  const read = await readDocuments(tree, from.path, {}, signal);
  return { ...(await findSpecs(read, { validate: validateDocument })), notes: read.notes, files: read.files };
}

/** Names of the root folder's entries. */
export async function rootOf({ tree }: Pick<Fetched, 'tree'>): Promise<string[]> {
  return (await tree.folder(tree.root)).map(({ name }) => name).sort();
}
