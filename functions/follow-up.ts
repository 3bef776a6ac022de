import { isReason, type Kube, resources } from '../reconcile/kube.ts';
import {
  activeChains,
  type ChainLink,
  type CronJob,
  followUpJob,
  followUpLabel,
  isActive,
  type Job,
  nextLink,
} from './chain.ts';

export interface FollowUpContext {
  readonly kube: Kube;
  readonly cronJob: { readonly namespace: string; readonly name: string };
  /** What this invocation is itself; absent: a tick. */
  readonly link?: ChainLink;
  readonly newChain: () => string;
  readonly signal: AbortSignal;
}

export type FollowUp =
  | { readonly kind: 'created'; readonly job: string }
  /** Others go on, as it looks. */
  | { readonly kind: 'under-way'; readonly jobs: readonly string[] }
  | { readonly kind: 'none'; readonly because: string };

/**
 * Sees to it that somebody goes on with what this pass left.
 *
 * @throws {KubeError} Nothing is lost then but time: the next tick takes over.
 */
export async function followUp({ kube, cronJob, link, newChain, signal }: FollowUpContext): Promise<FollowUp> {
  const { namespace, name } = cronJob;
  const [owner, jobs] = await Promise.all([
    kube.get<CronJob>(resources.cronJobs, namespace, name, { signal }),
    kube.list<Job>(resources.jobs, { namespace, labelSelector: `${followUpLabel}=true`, signal }),
  ]);
  if (!owner) return none(`there is no CronJob ${namespace}/${name}`);
  // Suspending the CronJob stops no Job that somebody else makes from its template: that is on us.
  if (owner.spec.suspend) return none(`CronJob ${namespace}/${name} is suspended`);

  const now = kube.now() ?? new Date();
  const next = nextLink(link, activeChains(jobs.items, now), newChain);
  if (!next) {
    const active = jobs.items.filter((one) => isActive(one, now));
    return { kind: 'under-way', jobs: active.map(({ metadata }) => metadata.name) };
  }
  const job = followUpJob(owner, next);
  try {
    await kube.create(resources.jobs, job, { signal });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  return { kind: 'created', job: job.metadata.name };
}

/**
 * Whether people have stopped everything: the CronJob is suspended, or gone. A follow-up that runs already, or waits for something,
 * ends with the step that it is at.
 *
 * @throws {KubeError}
 */
export async function isStopped(
  kube: Kube,
  { namespace, name }: FollowUpContext['cronJob'],
  signal: AbortSignal,
): Promise<boolean> {
  const owner = await kube.get<CronJob>(resources.cronJobs, namespace, name, { signal });
  return !owner || owner.spec.suspend === true;
}

function none(because: string): FollowUp {
  return { kind: 'none', because };
}
