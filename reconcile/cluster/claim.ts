import type { ClusterStep, EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { isReason, type Kube, resources } from '../kube.ts';
import { targetOf } from './action-target.ts';
import type { Action } from './actions.ts';
import type { Claim } from './observation.ts';

/** The invocation that acts: its pod, or where there is none, whatever tells it from every other. */
export interface Holder {
  /** `<namespace>/<pod>` inside a cluster. */
  readonly pod: string;
  readonly uid: string;
  /** Whether it knows by itself that the invocation with this uid is over: where one process makes several, it does of its own. */
  readonly knowsOver?: (uid: string) => boolean;
}

/** How long one step may take. Long enough for a slow API server, short enough not to hold up the next for long. */
export const stepSeconds = 20;
/** Between a claim's deadline and its end: clocks differ, and a request sent in time may land late. */
const marginSeconds = 10;

/** Reads the claim in the status: free, still held, or abandoned by an invocation that ended without a report. */
export async function readClaim(
  kube: Kube,
  cluster: EtcdCluster,
  { now, holder, signal }: { readonly now: Date; readonly holder: Holder; readonly signal: AbortSignal },
): Promise<Claim> {
  const step = cluster.status?.step;
  if (!step) return { kind: 'free' };
  const until = new Date(Date.parse(step.deadline) + marginSeconds * 1000);
  // Our own claim can only be seen again after a report that failed: then this very process knows that it is over.
  const isOurs = step.holder.uid === holder.uid || holder.knowsOver?.(step.holder.uid);
  const over = now > until || isOurs || (await hasEnded(kube, step.holder, signal));
  if (!over) return { kind: 'held', holder: step.holder.pod, until };
  return { kind: 'abandoned', holder: step.holder.pod, action: actionOf(step) };
}

/**
 * Whether every container of the holder was seen terminated. A pod that is merely gone proves nothing: deleted by force, its
 * containers may still run on a node that the API server does not hear from.
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

/** What was written by `claim` below. Somebody may have edited it by hand: then it is nobody's, and decided anew. */
function actionOf({ parameters }: ClusterStep): Action | undefined {
  const candidate = parameters as Action | undefined;
  return typeof candidate?.kind === 'string' ? candidate : undefined;
}

/**
 * Writes the step into the status with the resourceVersion that was observed, so that of two invocations which decided
 * from the same observation only one acts.
 *
 * @returns the resource with the claim, or `undefined` when something moved since it was observed.
 * @throws {KubeError}
 */
export async function claim(
  kube: Kube,
  cluster: EtcdCluster,
  step: { readonly action: Action; readonly reason: string; readonly holder: Holder; readonly now: Date },
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
  const status = { observedGeneration: -1, ...cluster.status, step: written };
  try {
    return await kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status }, { signal });
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
