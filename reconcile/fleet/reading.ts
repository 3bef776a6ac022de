import type { KubeObject } from '../interfaces/kube.ts';

/** One validated document of the repository. */
export interface DesiredSpec {
  /** As written: defaults are the API server's. */
  readonly object: KubeObject & { readonly spec?: unknown };
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The place of a field; of what is around it where it is missing. */
  readonly locate?: (
    path: readonly (string | number)[],
    part: 'key' | 'value',
  ) => { readonly line: number; readonly column: number };
  /** Words that an earlier version read otherwise. */
  readonly rereads?: readonly Reread[];
}

export interface Reread {
  /** To the value, or to the map whose key it is. */
  readonly path: readonly (string | number)[];
  readonly isKey?: true;
  /** As it stands in the document. */
  readonly text: string;
  readonly was: boolean | number | string;
  readonly now: boolean | number | string;
  readonly line: number;
  readonly column: number;
}

/** What a person must correct, and where. Line and column count from 1; 0 means the whole file. */
export interface SpecProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface DesiredTree {
  readonly specs: readonly DesiredSpec[];
  readonly problems: readonly SpecProblem[];
  /** Every file under the fleet's path, whatever it holds: a file that is still there protects what came from it. */
  readonly files: ReadonlySet<string>;
  /** Whether it is known of every document which cluster it is about. Unless it is, nothing is pruned. */
  readonly complete: boolean;
  /** What was not looked into, and why. */
  readonly notes: readonly string[];
  /** Things that are allowed, and probably not meant. */
  readonly warnings?: readonly SpecProblem[];
  /** The signer of the revision, where the fleet asks for one. */
  readonly verified?: VerifiedBy;
}

interface VerifiedBy {
  readonly mode: 'Head' | 'HeadAndMerges' | 'Tag';
  /** As the trusted keys call the signer. */
  readonly by: string;
  /** Its fingerprint. */
  readonly key: string;
  /** Commits and tags whose signature was looked at. */
  readonly objects: number;
}

/** What Git said in this invocation. `revision` is `<ref>@sha1:<40 hex>`. */
export type Reading =
  /** That revision is applied, and the objects are as our apply left them. */
  | { readonly kind: 'unchanged'; readonly revision: string }
  | { readonly kind: 'tree'; readonly revision: string; readonly tree: DesiredTree }
  | {
      readonly kind: 'failed';
      /** Present when the ref could be resolved, so that a commit is to blame. */
      readonly revision?: string;
      readonly reason: string;
      readonly message: string;
      readonly retryable: boolean;
    }
  /** Git was not asked: the fleet is suspended, or this is a follow-up and there is nothing left to apply. */
  | { readonly kind: 'skipped'; readonly because: 'suspended' | 'follow-up' };

/** The 40 hexadecimal digits of `<ref>@sha1:<40 hex>`. */
export function shaOf(revision: string): string {
  return revision.slice(revision.lastIndexOf(':') + 1);
}
