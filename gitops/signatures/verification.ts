import type { GitConnection } from '../git/http.ts';
import type { FetchedTree } from '../git/tree.ts';
import type { KeyItems } from './trusted-keys.ts';

/** The fleet's demand. Plain data: it is sent to the thread that reads repositories. */
export interface Verification {
  readonly mode: 'Head' | 'HeadAndMerges' | 'Tag';
  /** Name of the ConfigMap, for messages. */
  readonly configMap: string;
  readonly keys: KeyItems;
  /** Of `HeadAndMerges`: the commit that was verified last. Absent: none was. */
  readonly since?: string;
  /** Of `Tag`: the tag that spec.git.ref names, and its object; a tag without one can't be signed. */
  readonly tag?: { readonly name: string; readonly sha?: string };
}

export interface Asked {
  readonly git: GitConnection;
  readonly tree: Pick<FetchedTree, 'raw' | 'root' | 'revision'>;
  readonly verification: Verification;
  readonly signal: AbortSignal;
  /** Seconds since the epoch. */
  readonly now: number;
}

/** As people say it. */
export function short(sha: string): string {
  return sha.slice(0, 12);
}
