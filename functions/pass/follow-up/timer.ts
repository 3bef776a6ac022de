import { isReason, type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { isOver } from '../../../reconcile/jobs/job-end.ts';
import type { Shard } from '../../../reconcile/stepping/shard.ts';
import { dueTimes } from '../../../reconcile/time/due.ts';
import type { Log } from '../../log.ts';
import { type CronJob, type Job, jobOf, ofShard, shardFacts, staleAfterMs } from './chain.ts';
import type { CronJobName } from './follow-up.ts';

const timerLabel = 'etcd.ratchet.dev/timer';
const atAnnotation = 'etcd.ratchet.dev/at';

/** Nothing is asked for what is due later: then a tick before it sees to it. Milliseconds. */
const horizon = 3600_000;
/** A tick that comes so long after the time is in time. Milliseconds. */
const slack = 10_000;
interface Reach {
  readonly kube: Kube;
  readonly cronJob: CronJobName;
  readonly log: Log;
  readonly shard?: Shard | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes a follow-up Job that waits until this time, where the next tick would come too late. One stands for all that is
 * due later: it looks, and leaves the next. Never throws for what the API server says: that costs time only.
 */
export async function leaveTimer(at: Date, { kube, cronJob, log, shard, signal }: Reach): Promise<void> {
  const now = kube.now() ?? new Date();
  if (at.getTime() - now.getTime() > horizon) return;
  try {
    const { namespace, name } = cronJob;
    const owner = await kube.get<CronJob>(resources.cronJobs, namespace, name, { signal });
    if (!owner || owner.spec.suspend || isTickInTime(owner, at, now)) return;
    const labelSelector = ofShard(timerLabel, shard);
    const { items } = await kube.list<Job>(resources.jobs, { namespace, labelSelector, signal });
    if (items.some((job) => standsFor(job, at, now))) return;
    const waits = Math.max(0, Math.ceil((at.getTime() - now.getTime()) / 1000));
    const { labels, args } = shardFacts(shard);
    const ofShare = shard ? `-${shard.index}-${shard.of}` : '';
    const job = jobOf(owner, {
      suffix: `at-${Math.ceil(at.getTime() / 1000).toString(36)}${ofShare}`,
      labels: { [timerLabel]: 'true', ...labels },
      annotations: { [atAnnotation]: at.toISOString() },
      args: ['--follow-up', `--delay=${waits}`, ...args],
      waits,
    });
    await kube.create(resources.jobs, job, { signal });
    log({ job: job.metadata.name, at: at.toISOString() }, 'a follow-up waits until then');
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return;
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, 'no follow-up could be made that waits; the next tick looks');
  }
}

/** A CronJob without a time zone goes by the controller's, which is UTC as a rule. */
function isTickInTime({ spec: { schedule = '', timeZone = 'UTC' } }: CronJob, at: Date, now: Date): boolean {
  const ticks = dueTimes(schedule, timeZone);
  if ('problem' in ticks) return true;
  const next = ticks.next(now);
  return next !== undefined && next.getTime() <= at.getTime() + slack;
}

/** It looks before then, or at that time, and has not looked yet. */
function standsFor(job: Job, at: Date, now: Date): boolean {
  const { deletionTimestamp, annotations } = job.metadata;
  const own = Date.parse(annotations?.[atAnnotation] ?? '');
  const isInTime = own <= at.getTime() + slack && own + staleAfterMs > now.getTime();
  return isInTime && deletionTimestamp === undefined && !isOver(job);
}
