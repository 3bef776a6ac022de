import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { stepSeconds } from '../cluster/act/lease.ts';
import type { Holder } from '../cluster/know/holder.ts';
import { isReason, type Kube, KubeError, resources } from '../interfaces/kube.ts';

/** The lease of a cluster's own steps, held while its members leave a node: none of the two disturbs the other. */

interface Holding {
  readonly kube: Kube;
  readonly holder: Holder;
  readonly signal: AbortSignal;
}

/** Not the holder of the clusters' steps of the same pass: those run beside, and are not over. */
export function holderOf(holder: Holder): Holder {
  return { ...holder, uid: `${holder.uid}/nodes` };
}

/** From the version that was observed. @throws {KubeError} of class `precondition` where it has moved */
export async function take(cluster: EtcdCluster, { kube, holder, signal }: Holding): Promise<EtcdCluster> {
  const now = kube.now() ?? new Date();
  const { pod, uid } = holderOf(holder);
  const step = {
    action: 'evict-for-reboot',
    reason: 'EvictingMembers',
    holder: { pod, uid },
    startedAt: now.toISOString(),
    deadline: new Date(now.getTime() + stepSeconds * 1000).toISOString(),
  };
  const status = { observedGeneration: -1, ...cluster.status, step };
  return kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status }, { signal });
}

/** @throws {KubeError} */
export async function giveBack(cluster: EtcdCluster, { kube, signal }: Holding): Promise<void> {
  const { step: _, ...status } = cluster.status ?? { observedGeneration: -1 };
  try {
    await kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status }, { signal });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // A fleet changed its spec meanwhile: once more, from what is there now.
    if (!isReason(error, 'Conflict')) return;
    const { namespace, name } = cluster.metadata;
    const found = await kube.get<EtcdCluster>(resources.clusters, namespace, name, { signal });
    if (found?.status?.step?.holder.uid !== cluster.status?.step?.holder.uid) return;
    const { step: __, ...now } = found?.status ?? { observedGeneration: -1 };
    if (found) await kube.updateStatus<EtcdCluster>(resources.clusters, { ...found, status: now }, { signal });
  }
}
