import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Decision } from './know/decision.ts';

/** What one pass did about one cluster: for the log, the exit code, the fleet's roll-up and the follow-up. */
export interface ClusterResult {
  readonly namespace: string;
  readonly name: string;
  readonly decision: Decision;
  /**
   * `acted`: the action was carried out. `failed`: it was tried and did not get through; the next step looks again.
   * `lost`: another invocation holds the lease or was faster. `none`: nothing was to be done, or it was a dry run.
   */
  readonly outcome: 'none' | 'acted' | 'failed' | 'lost';
  /** Set when `outcome` is `failed` or the cluster could not even be looked at. One sentence. */
  readonly problem?: string;
  /** Whether another step would be worth taking (soon, or when `decision.wakeOn` says). */
  readonly workRemains: boolean;
  /** The resource as this pass left it, status included; the fleet's roll-up reads its conditions. */
  readonly cluster: EtcdCluster;
}
