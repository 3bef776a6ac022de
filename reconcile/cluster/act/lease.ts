import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ClusterStep, EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { ExistingCluster } from '../../../manifests/api/existing-cluster.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';
import type { Action } from '../know/action.ts';
import type { Holder } from '../know/holder.ts';
import { targetOf } from './act.ts';

/** How long one step may take. Long enough for a slow API server, short enough not to hold up the next for long. */
export const stepSeconds = 20;

/**
 * Writes the step into the status with the resourceVersion that was observed, so that of two invocations which decided
 * from the same observation only one acts.
 *
 * @returns the resource with the lease, or `undefined` when something moved since it was observed.
 * @throws {KubeError}
 */
export async function takeLease(
  kube: Kube,
  cluster: EtcdCluster,
  step: {
    readonly action: Action;
    readonly reason: string;
    readonly holder: Holder;
    readonly now: Date;
    /** Written before anything joins: a commit that removes it meets a status that knows it (I13). */
    readonly existing?: ExistingCluster;
    /** Written before any user is made: no crash leaves one behind that counts as made by others (I19). */
    readonly auth?: EtcdClusterStatus['auth'];
  },
  signal: AbortSignal,
): Promise<EtcdCluster | undefined> {
  const target = targetOf(step.action)?.slice(0, 253);
  const written: ClusterStep = {
    action: step.action.kind,
    parameters: step.action as unknown as NonNullable<ClusterStep['parameters']>,
    ...(target !== undefined && { target }),
    reason: step.reason,
    holder: { pod: step.holder.pod, uid: step.holder.uid },
    startedAt: step.now.toISOString(),
    deadline: new Date(step.now.getTime() + stepSeconds * 1000).toISOString(),
  };
  const status = {
    observedGeneration: -1,
    ...cluster.status,
    ...(step.existing && { existing: step.existing }),
    ...(step.auth && { auth: step.auth }),
    step: written,
  };
  try {
    return await kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status }, { signal });
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
