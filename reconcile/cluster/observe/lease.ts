import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ClusterStep } from '../../../manifests/api/etcd-cluster-status.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';
import type { Action } from '../know/action.ts';
import type { Holder } from '../know/holder.ts';
import type { Lease } from '../know/observation.ts';

/** Reads the lease in the status: free, still held, or abandoned by an invocation that ended without a report. */
export async function readLease(
  kube: Kube,
  cluster: EtcdCluster,
  { now, holder, signal }: { readonly now: Date; readonly holder: Holder; readonly signal: AbortSignal },
): Promise<Lease> {
  const step = cluster.status?.step;
  if (!step) return { kind: 'free' };
  const until = new Date(Date.parse(step.deadline) + marginSeconds * 1000);
  // Our own lease can only be seen again after a report that failed: then this very process knows that it is over.
  const isOurs = step.holder.uid === holder.uid || holder.knowsOver?.(step.holder.uid);
  const over = now > until || isOurs || (await hasEnded(kube, step.holder, signal));
  if (!over) return { kind: 'held', holder: step.holder.pod, until };
  return { kind: 'abandoned', holder: step.holder.pod, action: actionOf(step) };
}

/**
 * Whether every container of the holder was seen terminated. A pod that is merely gone proves nothing: deleted by
 * force, its containers may still run on a node that the API server does not hear from.
 */
async function hasEnded(kube: Kube, { pod, uid }: Holder, signal: AbortSignal): Promise<boolean> {
  const [namespace, name] = pod.split('/');
  if (!namespace || !name) return false;
  try {
    const found = await kube.get<Pod>(resources.pods, namespace, name, { signal });
    // Where one pod takes many requests, each holds as `<pod's uid>/<its own>`.
    const [podUid] = uid.split('/');
    if (!found || found.metadata.uid !== podUid) return false;
    const statuses = found.status?.containerStatuses ?? [];
    return statuses.length > 0 && statuses.every(({ state }) => state?.terminated !== undefined);
  } catch (error) {
    // Installations for one namespace may not read ours: then the deadline alone decides.
    if (isReason(error, 'Forbidden')) return false;
    throw error;
  }
}

/** What takeLease wrote. If a person edited it by hand, it is ignored, and the step is decided anew. */
function actionOf({ parameters }: ClusterStep): Action | undefined {
  const candidate = parameters as Action | undefined;
  return typeof candidate?.kind === 'string' ? candidate : undefined;
}

/** Between a lease's deadline and its end: clocks differ, and a request sent in time may land late. */
const marginSeconds = 10;
