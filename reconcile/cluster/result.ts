import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { StepResult } from '../stepping/result.ts';
import type { Decision } from './know/decision.ts';

/** What one pass did about one cluster: for the log, the exit code, the fleet's roll-up and the follow-up. */
export interface ClusterResult extends StepResult {
  readonly namespace: string;
  readonly decision: Decision;
  /** Set when `outcome` is `failed` or the cluster could not even be looked at. One sentence. */
  readonly problem?: string;
  /** The resource as this pass left it, status included; the fleet's roll-up reads its conditions. */
  readonly cluster: EtcdCluster;
  /** Nothing had moved since the last full look, and what that said is told again. Absent: it was a full one. */
  readonly look?: 'skipped';
}

/** Of which nothing was seen in this pass: it failed before anything was decided, or its namespace was left out. */
export function isWithoutStep({ reason }: Pick<ClusterResult, 'reason'>): boolean {
  return reason === 'StepFailed' || reason === 'NamespaceLeftOut';
}

/** What a log says of it. */
export function told({ namespace, name, decision: { kind, reason }, outcome }: ClusterResult) {
  return { cluster: `${namespace}/${name}`, decision: kind, reason, outcome };
}
