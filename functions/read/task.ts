import type { GitReason } from '../../gitops/git/error.ts';
import type { Revision } from '../../gitops/git/revision.ts';
import type { GitSource } from '../../gitops/git/source.ts';
import type { ServerTerms } from '../../gitops/git/terms.ts';
import type { MergeSignatures } from '../../gitops/signatures/foresee.ts';
import type { Verification } from '../../gitops/signatures/verification.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { DesiredTree, SpecProblem } from '../../reconcile/fleet/reading.ts';
import type { PlainTree } from './plain-tree.ts';

/** Work whose cost a stranger's bytes decide: it runs in the worker. Plain data, as all messages. */
export type Task = ReadTask | MergeTask;

interface About {
  /** With the path of the fleet. */
  readonly source: GitSource;
  readonly fleet: Pick<EtcdFleet, 'metadata' | 'spec'>;
}

/** What a commit asks of a fleet. */
export interface ReadTask extends About {
  readonly kind: 'read';
  readonly revision: Revision;
  /** What the server said, and where it answers; absent: not known. */
  readonly terms?: ServerTerms;
  /** What must be signed before a document is read; absent: nothing. */
  readonly verification?: Verification;
}

/** What a fleet's path asks of it before and after a merge. */
export interface MergeTask extends About {
  readonly kind: 'merge';
  readonly head: string;
  readonly target: string;
  readonly targetBranch: string;
  /** What the target branch must be signed with; absent: nothing. */
  readonly verification?: Verification;
}

export interface Failure {
  readonly kind: 'failed';
  readonly reason: GitReason;
  readonly message: string;
}

export type Answer =
  | Failure
  | { readonly kind: 'read'; readonly tree: PlainTree }
  | ({ readonly kind: 'merge' } & MergedInto<PlainTree>);

export type Merged = MergedInto<DesiredTree>;

interface MergedInto<T> {
  readonly touches: boolean;
  readonly conflicts: readonly SpecProblem[];
  /** What Git may merge, and is not foreseen here. */
  readonly uncertain: readonly SpecProblem[];
  /** Where the fleet asks for signatures. */
  readonly signatures?: MergeSignatures;
  /** Absent where the head's side touches nothing. */
  readonly trees?: { readonly kind: 'trees'; readonly before: T; readonly after: T } | Failure;
}

export type ToWorker =
  | { readonly kind: 'begin'; readonly id: number; readonly task: Task }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'ended'; readonly id: number; readonly answer: Answer };
