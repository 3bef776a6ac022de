import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { LeavingPod } from '../decision.ts';
import type { LeaderMove } from '../etcd.ts';
import type { JobSeen, NodeSeen } from '../observation.ts';

/** Stores a model's state: a plan's observation, or the world of a search. It knows no action. */
export interface NodesHost<S> {
  /** The API server's clock. */
  readonly at: (state: S) => Date;
  /** Whether nothing was written to it since it was observed: what a write says that it is about. */
  readonly isCurrent: (object: string) => boolean;
  readonly node: (state: S, name: string) => NodeSeen | undefined;
  readonly withNode: (state: S, node: NodeSeen) => S;
  readonly withPolicy: (state: S, policy: EtcdNodePolicy) => S;
  /** The Job of a grant. */
  readonly job: (state: S, id: string) => JobSeen | undefined;
  readonly withNewJob: (state: S, id: string, node: string) => S;
  readonly withoutJob: (state: S, id: string) => S;
  /** The lease of a cluster's steps. @throws {StepError} where another step has it. */
  readonly held: (state: S, cluster: string) => S;
  readonly letGo: (state: S, cluster: string) => S;
  /** A pod that is another one now stays; `kept`: a disruption budget refuses. */
  readonly evicted: (state: S, pod: LeavingPod) => { readonly state: S; readonly kept: boolean };
  readonly led: (state: S, move: LeaderMove) => S;
}
