import { abortAfter } from '../../manifests/abort-after.ts';
import { isWithoutStep } from '../../reconcile/cluster/result.ts';
import { isAboutAll } from '../../reconcile/stepping/kind.ts';
import { patiently } from '../../reconcile/stepping/patience.ts';
import type { Identity } from '../environment.ts';
import type { TickOptions } from '../tick/options.ts';
import type { Standing } from './follow-up/follow-up.ts';
import { leaveWork } from './follow-up/leave-work.ts';
import { pass } from './pass.ts';
import type { PassContext, PassResult } from './pass-context.ts';
import { type Care, careAfterSilence } from './silent-ends.ts';

export interface OnePassContext
  extends Omit<PassContext, 'dryRun' | 'followUp' | 'waitMs' | 'isStopped' | 'onNews' | 'home'> {
  /** Whose template follow-ups are made from. */
  readonly cronJob: Identity['cronJob'];
  readonly env: NodeJS.ProcessEnv;
}

export interface OnePass extends PassResult {
  /** Work remains that a follow-up was to go on with, and none could be made. */
  readonly isDropped?: true;
  /** Its time was over when, of several namespaces, the clusters of one alone had got a step. */
  readonly isStarved?: true;
}

/** For making a follow-up when the time for everything else is over, in milliseconds. */
const leavingMs = 3_000;

const whyNot = {
  stopped: 'the CronJob is suspended',
  superseded: 'a later follow-up goes on',
} as const satisfies Record<Exclude<Standing, 'on'>, string>;

/** One pass, and its follow-up. `undefined`: this follow-up has nothing to do. @throws {KubeError} without a pass */
export async function onePass(
  options: TickOptions,
  { cronJob, env, ...context }: OnePassContext,
): Promise<OnePass | undefined> {
  const { kube, log, shard, signal } = context;
  const stands = () => standing(options, { kube, cronJob, shard, signal });
  const before = await patiently({ log, until: signal }, stands);
  if (before !== 'on') {
    log({ outcome: 'none' }, `${whyNot[before]}: this follow-up does nothing`);
    return undefined;
  }
  let isLeft = true;
  const care =
    cronJob && isAboutAll(context) && !options.dryRun
      ? careAfterSilence({ ...context, home: cronJob.namespace })
      : undefined;
  const result = await pass({
    ...context,
    ...(care && { care: care.then((known) => inSteps(known, options)) }),
    home: cronJob?.namespace,
    dryRun: options.dryRun,
    followUp: options.followUp !== undefined,
    waitMs: options.wait * 1000,
    isStopped: async () => (await stands()) !== 'on',
    onEarly: async (news) => {
      await leaveWork(news, options, { kube, log, env, cronJob, shard, signal });
    },
    onNews: async (news) => {
      if (signal.aborted) log({ problem: String(signal.reason) }, 'the pass was cut short; the next one goes on');
      // Making sure of the next one is worth time of its own, as telling what was done is.
      const inTime = signal.aborted ? abortAfter(leavingMs) : signal;
      isLeft = await leaveWork(news, options, { kube, log, env, cronJob, shard, signal: inTime });
    },
  });
  const known = options.followUp ? undefined : await care;
  if (known) {
    const { askAlone } = await import('./ask-alone.ts');
    await askAlone(known, { ...context, dryRun: false, followUp: false, waitMs: 0 });
  }
  const told: OnePass = signal.aborted && areStarved(result) ? { ...result, isStarved: true } : result;
  return isLeft ? told : { ...told, isDropped: true };
}

/** A follow-up leaves out what a tick asks alone, and keeps no record: it steps the others meanwhile. */
function inSteps(care: Care | undefined, { followUp }: TickOptions): Pick<PassContext, 'asking' | 'unasked'> {
  if (!care) return {};
  const { suspects, asking } = care;
  return { ...(!followUp && { asking }), ...(suspects.length > 0 && { unasked: new Set(suspects) }) };
}

/** Of several namespaces, one or none has had all the time. Those that were left out get none of it in any pass. */
export function areStarved({ clusters, leftOut }: Pick<PassResult, 'clusters' | 'leftOut'>): boolean {
  const seen = clusters.filter(({ namespace }) => !leftOut.has(namespace));
  const stepped = new Set(seen.filter((one) => !isWithoutStep(one)).map(({ namespace }) => namespace));
  const all = new Set(seen.map(({ namespace }) => namespace));
  return all.size > 1 && stepped.size <= 1;
}

/** Kubernetes starts Jobs made from a suspended CronJob's template, so they ask. A tick started by hand is meant. */
async function standing(
  { followUp, goOn }: TickOptions,
  { kube, cronJob, shard, signal }: Pick<OnePassContext, 'kube' | 'cronJob' | 'shard' | 'signal'>,
): Promise<Standing> {
  if (!(followUp || goOn) || !cronJob) return 'on';
  const { chain, number } = followUp ?? {};
  const link = chain !== undefined && number !== undefined ? { chain, number } : undefined;
  const { standingOf } = await import('./follow-up/follow-up.ts');
  return standingOf({ kube, cronJob, link, shard, signal });
}
