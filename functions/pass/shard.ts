import { type Kube, type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { isOver } from '../../reconcile/jobs/job-end.ts';
import { patiently } from '../../reconcile/stepping/patience.ts';
import { indexesOf, type Shard } from '../../reconcile/stepping/shard.ts';
import type { Identity } from '../environment.ts';
import type { Log } from '../log.ts';
import type { TickOptions } from '../tick/options.ts';
import { type CronJob, followUpLabel, type Job, shardsOf } from './follow-up/chain.ts';
import { silentShards } from './silent-ends.ts';

export interface ShardContext {
  readonly kube: Kube;
  readonly env: NodeJS.ProcessEnv;
  readonly cronJob: Identity['cronJob'];
  readonly log: Log;
  readonly signal: AbortSignal;
}

interface Pass extends Job {
  readonly spec?: { readonly completionMode?: string; readonly completions?: number };
  readonly status?: Job['status'] & { readonly completedIndexes?: string };
}

/** Longer than a pass takes: one that has not ended by then is missed. Milliseconds. */
const passMs = 60_000;
/** After so many passes that it missed, a shard's share is taken by the others. */
const missedPasses = 2;

/**
 * Which of several this invocation is that share out the pass, and which of them miss theirs; `undefined`: it is the
 * only one; `surplus`: there are fewer. What a shard leaves that ended without a word is taken by none: it would end
 * them as well. @throws {KubeError}
 */
export async function shardFor(
  { shard: given }: Pick<TickOptions, 'shard'>,
  { kube, env, cronJob, log, signal }: ShardContext,
): Promise<Shard | 'surplus' | undefined> {
  const { JOB_COMPLETION_INDEX: own } = env;
  if (!given && (own === undefined || !cronJob)) return undefined;
  if (!cronJob) return given && { ...given, missing: [] };
  const { namespace, name } = cronJob;
  // Not what goes on with a pass.
  const labelSelector = `app.kubernetes.io/name=etcd-ratchet,!${followUpLabel}`;
  const [owner, { items }] = await patiently({ log, until: signal }, () =>
    Promise.all([
      kube.get<CronJob>(resources.cronJobs, namespace, name, { signal }),
      kube.list<Pass>(resources.jobs, { namespace, labelSelector, signal }),
    ]),
  );
  const { index, of } = given ?? { index: Number(own), of: (owner && shardsOf(owner)) ?? 1 };
  if (index >= of) return 'surplus';
  const passes = items.filter(({ metadata }) => isMadeBy(owner, metadata.ownerReferences));
  const lost = missingIn(passes, of, kube.now() ?? new Date());
  if (lost.length === 0) return { index, of, missing: [] };
  const silent = await patiently({ log, until: signal }, () => silentShards({ kube, home: namespace, signal }));
  const missing = lost.filter((one) => !silent.has(one));
  const told = { missing, silent: lost.filter((one) => silent.has(one)), of };
  log(told, `${lost.length} of ${of} shards miss their passes: the others take the share of those that are missing`);
  return { index, of, missing };
}

function isMadeBy(owner: CronJob | undefined, owners: KubeObject['metadata']['ownerReferences'] = []): boolean {
  return owners.some(({ uid }) => uid === owner?.metadata.uid);
}

/** The indexes that have ended well in none of the last passes. None where there were too few. */
function missingIn(passes: readonly Pass[], of: number, now: Date): readonly number[] {
  const age = ({ metadata }: Pass) => now.getTime() - Date.parse(metadata.creationTimestamp ?? '');
  const last = passes
    .filter(({ spec }) => spec?.completionMode === 'Indexed' && spec.completions === of)
    .filter((one) => isOver(one) || age(one) > passMs)
    .toSorted((a, b) => age(a) - age(b))
    .slice(0, missedPasses);
  if (last.length < missedPasses) return [];
  const completed = last.map(({ status }) => indexesIn(status?.completedIndexes));
  return indexesOf(of).filter((index) => completed.every((one) => !one.has(index)));
}

/** As Kubernetes writes them: `0,2-4`. */
function indexesIn(text = ''): ReadonlySet<number> {
  const ranges = text.split(',').filter((part) => part !== '');
  return new Set(
    ranges.flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, n) => first + n);
    }),
  );
}
