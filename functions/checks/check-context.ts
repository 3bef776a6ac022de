import type { ChangeRequest } from '../../gitops/forges/forge.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { PlanContext } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import type { Reader } from '../read/reader.ts';

/** The commit that is to be merged, and its target. */
export interface Question {
  /** Absent where no request asks for it. */
  readonly request?: ChangeRequest;
  /** 40 hexadecimal digits each. */
  readonly head: string;
  readonly target: string;
  readonly targetBranch: string;
}

export interface CheckContext extends Omit<PlanContext, 'kube'> {
  /** Of which nothing but reading and dry runs is asked: see `dryRunOnly`. */
  readonly kube: Kube;
  readonly namespace?: string | undefined;
  readonly fleets: readonly EtcdFleet[];
  readonly clusters: readonly EtcdCluster[];
  readonly reader: Reader;
  readonly log: Log;
  /** Where nodes may be rebooted. Absent: the component node-reboots is not installed. */
  readonly rebootsIn?: string | undefined;
  /** Called as soon as it is known that there is something to check. */
  readonly onTouched?: () => Promise<void>;
}
