import { isReason, type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Shard } from '../../../reconcile/stepping/shard.ts';
import {
  type ChainLink,
  type CronJob,
  followUpJob,
  followUpLabel,
  isActive,
  type Job,
  linksOf,
  nextLink,
  ofShard,
  shardsOf,
  supersedes,
} from './chain.ts';

export interface CronJobName {
  readonly namespace: string;
  readonly name: string;
}

export interface FollowUpContext {
  readonly kube: Kube;
  readonly cronJob: CronJobName;
  /** What this invocation is itself; absent: no link of a chain. */
  readonly link?: ChainLink | undefined;
  /**
   * Whether this invocation did something that a running follow-up, which may be dead or have looked for the last time,
   * does not know. Otherwise it only makes sure that there is one.
   */
  readonly isNew: boolean;
  readonly newChain: () => string;
  /** Which of several it is that share out the pass. */
  readonly shard?: Shard | undefined;
  readonly signal: AbortSignal;
}

export type FollowUp =
  | { readonly kind: 'created'; readonly job: string }
  /** One goes on that was made after this invocation's news. */
  | { readonly kind: 'under-way' }
  /** Passes are shared out among so many, and this invocation is none of them: each shard's share has its own. */
  | { readonly kind: 'shared'; readonly of: number }
  | { readonly kind: 'none'; readonly because: string };

/**
 * Makes sure that a follow-up looks after what this invocation did: a Job that does not exist yet can't have looked too
 * early. It is made even while another runs, which then ends (`standingOf`). @throws {KubeError} The next tick helps.
 */
export async function followUp(context: FollowUpContext): Promise<FollowUp> {
  const { kube, cronJob, link, isNew, newChain, shard, signal } = context;
  const { owner, jobs, active } = await lookedUp(context);
  if (!owner) return none(`there is no CronJob ${nameOf(cronJob)}`);
  // Kubernetes starts no Job of a suspended CronJob by itself, but it does start those that are made from its template.
  if (owner.spec.suspend) return none(`CronJob ${nameOf(cronJob)} is suspended`);
  const of = shardsOf(owner);
  if (!shard && of !== undefined) return { kind: 'shared', of };
  if (!isNew && active.some((one) => !link || supersedes(one, link))) return { kind: 'under-way' };
  const next = nextLink([...active, ...(link ? [link] : [])], linksOf(jobs), newChain);
  const job = followUpJob(owner, next, shard);
  try {
    await kube.create(resources.jobs, job, { signal });
  } catch (error) {
    // Another invocation made it since our list, so it looks after what we did.
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
  return { kind: 'created', job: job.metadata.name };
}

/** Whether a follow-up is to go on: people may have stopped everything, or a later follow-up may have taken over. */
export type Standing = 'on' | 'stopped' | 'superseded';

/**
 * Asked before each look of a follow-up. A superseded one ends: the later one was made after this one's last look, and
 * waits for the same. @throws {KubeError}
 */
export async function standingOf(context: Omit<FollowUpContext, 'isNew' | 'newChain'>): Promise<Standing> {
  const { link } = context;
  if (!link) return (await isStopped(context.kube, context.cronJob, context.signal)) ? 'stopped' : 'on';
  const { owner, active } = await lookedUp(context);
  if (!owner || owner.spec.suspend === true) return 'stopped';
  return active.some((one) => supersedes(one, link)) ? 'superseded' : 'on';
}

async function lookedUp({
  kube,
  cronJob: { namespace, name },
  shard,
  signal,
}: Pick<FollowUpContext, 'kube' | 'cronJob' | 'shard' | 'signal'>) {
  const [owner, { items: jobs }] = await Promise.all([
    kube.get<CronJob>(resources.cronJobs, namespace, name, { signal }),
    kube.list<Job>(resources.jobs, { namespace, labelSelector: ofShard(followUpLabel, shard), signal }),
  ]);
  const now = kube.now() ?? new Date();
  return { owner, jobs, active: linksOf(jobs.filter((job) => isActive(job, now))) };
}

/** Whether people have stopped everything: the CronJob is suspended or gone. @throws {KubeError} */
export async function isStopped(kube: Kube, { namespace, name }: CronJobName, signal: AbortSignal): Promise<boolean> {
  const owner = await kube.get<CronJob>(resources.cronJobs, namespace, name, { signal });
  return !owner || owner.spec.suspend === true;
}

function nameOf({ namespace, name }: CronJobName): string {
  return `${namespace}/${name}`;
}

function none(because: string): FollowUp {
  return { kind: 'none', because };
}
