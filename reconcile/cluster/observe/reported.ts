import type { Event, Job, Pod } from '../../../manifests/kube-types.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { warningsIn } from './warnings.ts';

/** Until then a pod that does not run is only on its way. In seconds. */
const usualStart = 15;
/** Kubernetes merges repeated events into one: there are more only where a client writes at will. */
const mostEvents = 200;

/** A report about a Job or its pod, in a code and in words. */
export interface Reported {
  readonly reason: string;
  readonly message: string;
}

/**
 * What kubelet or the Job controller reports of what does not come to run, like a Secret that is not there: a pod's
 * status does not say it. Left out where it can't be read; of a pod it is asked only after a while.
 */
export async function reportedOf(
  kube: Kube,
  { metadata, status }: Pod | Job,
  object: 'pod' | 'job',
  { at, signal }: { readonly at: Date; readonly signal: AbortSignal },
): Promise<Reported | undefined> {
  const { namespace, uid = '', creationTimestamp = '' } = metadata;
  const waits =
    (status as Pod['status'])?.phase === 'Pending' && at.getTime() - Date.parse(creationTimestamp) >= usualStart * 1000;
  if (object === 'pod' && !waits) return undefined;
  try {
    const options = { namespace, fieldSelector: `regarding.uid=${uid}`, limit: mostEvents, signal };
    const { items } = await kube.list<Event>(resources.events, options);
    const last = warningsIn(items, { object, uid }, at).at(-1);
    return last && { reason: last.reason, message: last.message };
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
