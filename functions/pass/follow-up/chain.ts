import type { KubeObject } from '../../../reconcile/interfaces/kube.ts';
import { mostShards, type Shard } from '../../../reconcile/stepping/shard.ts';

/** Where a follow-up stands: which chain, and which of its Jobs. */
export interface ChainLink {
  readonly chain: string;
  readonly number: number;
}

export interface Job extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly suspend?: boolean;
    readonly schedule?: string;
    readonly timeZone?: string;
    readonly jobTemplate: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: JobSpec;
    };
  };
}

interface JobSpec extends Partial<Indexed> {
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly template: {
    readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] };
  };
}

/** What only a Job has whose pods share out a pass. */
interface Indexed {
  readonly completionMode: string;
  readonly completions: number;
  readonly parallelism: number;
  readonly backoffLimitPerIndex: number;
  readonly maxFailedIndexes: number;
}

export const followUpLabel = 'etcd.ratchet.dev/follow-up';
export const chainLabel = 'etcd.ratchet.dev/chain';
/** On what goes on with what one of several invocations left that share out a pass. Each has a chain of its own. */
export const shardLabel = 'etcd.ratchet.dev/shard';

/** Another number of them shares out otherwise. */
function nameOf({ index, of }: Pick<Shard, 'index' | 'of'>): string {
  return `${index}-of-${of}`;
}

/** Selects what goes on with what this shard left, or an invocation that shares with none. */
export function ofShard(label: string, shard: Shard | undefined): string {
  return `${label}=true,${shard ? `${shardLabel}=${nameOf(shard)}` : `!${shardLabel}`}`;
}

/** What a Job of this shard bears, and how it is told. */
export function shardFacts(shard: Shard | undefined): Required<Pick<JobFacts, 'labels' | 'args'>> {
  if (!shard) return { labels: {}, args: [] };
  return { labels: { [shardLabel]: nameOf(shard) }, args: [`--shard=${shard.index}/${shard.of}`] };
}

/** Long enough to read its log, short enough not to gather. */
const ttlSeconds = 60;
/** A Job whose machine died stays active for ever; after this long it no longer stands for what it was made for. */
export const staleAfterMs = 180_000;

/** Starts a follow-up anew whose pod was lost, or found no API server: only it knows of the work. Ticks come anyway. */
const retries = 2;

/** The next Job of a chain. It is named after its place in it: made twice, it is one Job. */
export function followUpJob(
  cronJob: CronJob,
  { chain, number }: ChainLink,
  shard?: Shard,
): Job & { readonly spec: object } {
  const { labels, args } = shardFacts(shard);
  return jobOf(cronJob, {
    suffix: `${chain}-${number}`,
    labels: { [followUpLabel]: 'true', [chainLabel]: chain, ...labels },
    args: [`--follow-up=${chain}.${number}`, ...args],
    retries,
  });
}

export interface JobFacts {
  /** At most 24 characters. */
  readonly suffix: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** After those that the CronJob gives. */
  readonly args: readonly string[];
  /** So long it waits before it begins, beyond what the CronJob gives its Jobs. Seconds. */
  readonly waits?: number;
  /** Instead of what the CronJob gives. */
  readonly retries?: number;
}

/**
 * A Job of one pod made from the CronJob's own template, so that it runs as the tick does: same image, account, limits.
 * The CronJob owns but does not control it: it goes with the CronJob, and does not count as a run in its history.
 */
export function jobOf(
  { metadata, spec }: CronJob,
  { suffix, labels, annotations, args, waits = 0, retries }: JobFacts,
): Job & { readonly spec: object } {
  const { jobTemplate } = spec;
  const { template } = jobTemplate.spec;
  const alone = shardsOf({ spec }) === undefined ? jobTemplate.spec : ofOnePod(jobTemplate.spec);
  const [first, ...others] = template.spec.containers;
  const container = { ...first, args: [...(first?.args ?? []), ...args] };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      // Job names are labels of their pods, too: 63 characters.
      name: `${metadata.name.slice(0, 38)}-${suffix}`,
      ...(metadata.namespace && { namespace: metadata.namespace }),
      labels: { ...jobTemplate.metadata?.labels, ...labels },
      ...((jobTemplate.metadata?.annotations || annotations) && {
        annotations: { ...jobTemplate.metadata?.annotations, ...annotations },
      }),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: metadata.name, uid: metadata.uid ?? '' }],
    },
    spec: {
      ...alone,
      ...(jobTemplate.spec.activeDeadlineSeconds && {
        activeDeadlineSeconds: jobTemplate.spec.activeDeadlineSeconds + waits,
      }),
      ...(retries !== undefined && { backoffLimit: retries }),
      ttlSecondsAfterFinished: ttlSeconds,
      template: { ...template, spec: { ...template.spec, containers: [container, ...others] } },
    },
  };
}

/** Among how many a CronJob shares passes out; `undefined`: it does not. */
export function shardsOf({ spec }: Pick<CronJob, 'spec'>): number | undefined {
  const { completionMode, completions = 1 } = spec.jobTemplate.spec;
  return completionMode === 'Indexed' ? Math.min(completions, mostShards) : undefined;
}

/** Without what only a Job of many has. Of those the limit is for each index, and this one has none. */
function ofOnePod({
  completionMode: _,
  completions: __,
  parallelism: ___,
  backoffLimitPerIndex: backoffLimit = 0,
  maxFailedIndexes: ____,
  ...rest
}: JobSpec): JobSpec {
  return { ...rest, backoffLimit };
}

/** The links that these Jobs are; nothing of a Job that is no link. */
export function linksOf(jobs: readonly Job[]): readonly ChainLink[] {
  return jobs.flatMap(({ metadata: { name, labels } }) => {
    const chain = labels?.[chainLabel];
    const number = chain && new RegExp(`-${chain}-(\\d+)$`).exec(name)?.[1];
    return number ? [{ chain, number: Number(number) }] : [];
  });
}

/** Neither finished, nor on its way out, nor so old that its machine must be dead. */
export function isActive({ metadata, status }: Job, now: Date): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const age = now.getTime() - Date.parse(metadata.creationTimestamp ?? '');
  const finished = status?.conditions?.some(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  return !finished && !(age > staleAfterMs);
}

/** Whether the first looks later than what the second was made for. The second then ends: two chains become one. */
export function supersedes(one: ChainLink, other: ChainLink): boolean {
  return one.chain === other.chain ? one.number > other.number : one.chain < other.chain;
}

/**
 * The link that comes after all others: it looks when everything that its maker did is done.
 * @param active those under way, the maker's own included
 * @param known all links, finished ones too: the API server refuses a second Job of one name
 */
export function nextLink(active: readonly ChainLink[], known: readonly ChainLink[], newChain: () => string): ChainLink {
  const [last] = active.toSorted((a, b) => (supersedes(a, b) ? -1 : 1));
  if (!last) return { chain: newChain(), number: 1 };
  const { chain } = last;
  const numbers = [...active, ...known].filter((one) => one.chain === chain).map(({ number }) => number);
  return { chain, number: Math.max(...numbers) + 1 };
}
