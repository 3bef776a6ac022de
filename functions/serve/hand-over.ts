import { createHash } from 'node:crypto';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { isReason, type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { type CronJob, isActive, type Job, jobOf } from '../pass/follow-up/chain.ts';

export interface Delivered {
  readonly fleet: EtcdFleet;
  /** What the forge calls the delivery, the same when it repeats it; absent: it gives no names. */
  readonly id?: string | undefined;
  readonly body: Uint8Array;
  /** For people who look at the Job. */
  readonly reason: string;
}

export type HandedOver =
  | { readonly kind: 'accepted'; readonly job: string }
  /** The same delivery was here before: its Job stands for it. */
  | { readonly kind: 'repeated'; readonly job: string }
  | { readonly kind: 'refused'; readonly because: string };

export interface HandOverContext {
  readonly kube: Kube;
  readonly cronJob: { readonly namespace: string; readonly name: string };
  readonly signal: AbortSignal;
}

/** Knative leaves out what has it: manifests/knative/events/sink-bindings.yaml. */
export const triggerLabel = 'etcd.ratchet.dev/trigger';
const fleetLabel = 'etcd.ratchet.dev/fleet';
const reasonAnnotation = 'etcd.ratchet.dev/reason';
const bodyAnnotation = 'etcd.ratchet.dev/body';

/** Jobs of one fleet that run at once. Later deliveries wait for a moment, all together. */
const atOnce = 2;
const windowSeconds = 10;
/** Seconds by which clocks may be read late: the API server's is told to the second. */
const marginSeconds = 2;

/**
 * Hands a delivery to a Job made from the CronJob's template: Kubernetes is the queue. A repeated delivery has the same
 * Job name. Of a burst two run at once; all further deliveries of ten seconds share one Job, which waits that long
 * before it looks at Git. @throws {KubeError} Then nothing was accepted, and the forge must be told so.
 */
export async function handOver(delivered: Delivered, { kube, cronJob, signal }: HandOverContext): Promise<HandedOver> {
  const { namespace, name } = cronJob;
  const { fleet, id, body } = delivered;
  const uid = fleet.metadata.uid ?? keyOf(fleet);
  const [owner, jobs] = await Promise.all([
    kube.get<CronJob>(resources.cronJobs, namespace, name, { signal }),
    kube.bounded().list<Job>(resources.jobs, {
      namespace,
      labelSelector: `${triggerLabel}=webhook,${fleetLabel}=${uid}`,
      signal,
    }),
  ]);
  if (!owner) return { kind: 'refused', because: `there is no CronJob ${namespace}/${name} to make a Job from` };
  if (owner.spec.suspend) {
    return { kind: 'refused', because: `CronJob ${namespace}/${name} is suspended: nothing is started` };
  }
  const now = kube.now() ?? new Date();
  const suffix = digest(`${uid}\n${id ?? ''}\n`, body);
  const prior = jobs.items.find(({ metadata }) => metadata.name.endsWith(`-${suffix}`));
  if (prior && id !== undefined) return { kind: 'repeated', job: prior.metadata.name };

  const under = jobs.items.filter((job) => isActive(job, now)).length;
  // A body that was seen before, under no name or another one, may be a repetition, or news that looks the same: it is
  // looked at once more. Forges sign no names, so an old delivery can be sent again under a new one without end.
  const digestOfBody = digest(body);
  const isSeen = jobs.items.some(({ metadata }) => metadata.annotations?.[bodyAnnotation] === digestOfBody);
  const isLate = under >= atOnce || prior !== undefined || isSeen;
  const facts = isLate ? gathered(uid, now) : { suffix, args: [] };
  const job = jobOf(owner, {
    suffix: facts.suffix,
    labels: { [triggerLabel]: 'webhook', [fleetLabel]: uid },
    annotations: { [reasonAnnotation]: delivered.reason, [bodyAnnotation]: digestOfBody },
    args: [`--fleet=${keyOf(fleet)}`, '--go-on', ...facts.args],
  });
  try {
    await kube.create(resources.jobs, job, { signal });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    if (!isLate) return { kind: 'repeated', job: job.metadata.name };
  }
  return { kind: 'accepted', job: job.metadata.name };
}

/** One for all who come in these seconds, by the API server's clock, which is the same for every replica of ours. */
function gathered(uid: string, now: Date): { readonly suffix: string; readonly args: readonly string[] } {
  const window = Math.floor(now.getTime() / (windowSeconds * 1000));
  return {
    suffix: `${digest(uid).slice(0, 10)}-${window}`,
    args: [`--delay=${windowSeconds + marginSeconds}`],
  };
}

function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 20);
}
