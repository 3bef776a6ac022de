import { randomBytes } from 'node:crypto';
import { unitOf } from '../../../reconcile/fleet/unit.ts';
import { type Kube, KubeError, type KubeObject } from '../../../reconcile/interfaces/kube.ts';
import { patiently } from '../../../reconcile/stepping/patience.ts';
import type { StepResult } from '../../../reconcile/stepping/result.ts';
import { indexFor, type Shard } from '../../../reconcile/stepping/shard.ts';
import type { Identity } from '../../environment.ts';
import type { Log } from '../../log.ts';
import type { ChainLink } from './chain.ts';
import type { FollowUp } from './follow-up.ts';
import { emitFollowUps, SinkError, sinkFrom } from './sink.ts';

export interface GoingOn {
  readonly kube: Kube;
  readonly env: NodeJS.ProcessEnv;
  readonly cronJob: NonNullable<Identity['cronJob']>;
  /** What this invocation is itself; absent: no link of a chain. */
  readonly link?: ChainLink | undefined;
  /** Which of several it is that share out the pass. */
  readonly shard?: Shard | undefined;
  /** Whether it leaves what a follow-up that is under way may not know. */
  readonly isNew: boolean;
  /** How many follow-ups before the next one have seen nothing move; only events are counted. */
  readonly again?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Asks again until then, while the API server gives no answer. Default: not at all. */
  readonly until?: AbortSignal;
}

/** Clusters that it has stepped. */
interface Going {
  readonly clusters: readonly (Pick<StepResult, 'namespace' | 'name' | 'workRemains'> & {
    readonly cluster?: KubeObject;
  })[];
}

/** Has a pass followed up, by an event if a sink takes it, else by a Job; `false`: only the next tick goes on. */
export async function goOn({ clusters }: Going, context: GoingOn): Promise<boolean> {
  const { kube, cronJob, env, log, signal, link, shard, isNew, until = AbortSignal.abort() } = context;
  try {
    const { followUp, isStopped } = await import('./follow-up.ts');
    if (env.K_SINK) {
      if (await isStopped(kube, cronJob, signal)) return none(log, `CronJob ${nameOf(cronJob)} is suspended`);
      if (await emitted(clusters, context)) return true;
    }
    const newChain = () => randomBytes(5).toString('hex');
    const make = (share: Shard | undefined, after: ChainLink | undefined) =>
      patiently({ log, until }, () => followUp({ kube, cronJob, link: after, shard: share, isNew, newChain, signal }));
    const next = await make(shard, link);
    if (next.kind !== 'shared') return tellOf(next, log);
    const shares = sharesOf(clusters, next.of);
    if (shares.length === 0) return none(log, 'the shards of the next pass go on');
    for (const share of shares) tellOf(await make(share, undefined), log);
    return true;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, 'no follow-up could be made; the next tick goes on');
    return false;
  }
}

function tellOf(next: FollowUp, log: Log): true {
  if (next.kind === 'none') return none(log, next.because);
  if (next.kind !== 'created') return none(log, 'another follow-up is under way');
  log({ job: next.job }, 'a follow-up goes on');
  return true;
}

/** Which shards see to what work is left of. */
function sharesOf(clusters: Going['clusters'], of: number): readonly Shard[] {
  const units = clusters
    .filter(({ workRemains }) => workRemains)
    .map(({ cluster, namespace, name }) => unitOf(cluster ?? { metadata: { name, namespace: namespace ?? '' } }));
  const indexes = new Set(units.map((unit) => indexFor(unit, of)));
  return [...indexes].map((index) => ({ index, of, missing: [] }));
}

/** Whether the sink has taken it: an event that did not arrive is a Job. */
async function emitted(
  clusters: Going['clusters'],
  { env, cronJob, log, again }: Pick<GoingOn, 'env' | 'cronJob' | 'log' | 'again'>,
): Promise<boolean> {
  const waiting = clusters.filter(({ workRemains }) => workRemains);
  try {
    const sink = sinkFrom(env);
    if (!sink) return false;
    const names = waiting.map(({ namespace, name }) => `${namespace}/${name}`);
    await emitFollowUps(sink, sourceOf(cronJob), names, again);
    log({ sink: sink.url.host, clusters: names.length }, 'a follow-up goes on');
    return true;
  } catch (error) {
    if (!(error instanceof SinkError)) throw error;
    log({ problem: error.message }, 'the sink did not take a follow-up; a Job goes on');
    return false;
  }
}

function none(log: Log, because: string): true {
  log({ reason: because }, 'no follow-up');
  return true;
}

/** The installation, as the API server's addresses name it. */
function sourceOf({ namespace, name }: GoingOn['cronJob']): string {
  return `/apis/batch/v1/namespaces/${namespace}/cronjobs/${name}`;
}

function nameOf({ namespace, name }: GoingOn['cronJob']): string {
  return `${namespace}/${name}`;
}
