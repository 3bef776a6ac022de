import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import type { BackupsListed, ListBackups } from '../../reconcile/backup/list.ts';
import { isSettled } from '../../reconcile/backup/situation.ts';
import type { BackupResult } from '../../reconcile/backup/step.ts';
import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { isOver } from '../../reconcile/jobs/job-end.ts';
import type { Log } from '../log.ts';
import { secondsToNextBackup } from './next-look.ts';
import type { StepAndWaitContext } from './pass-context.ts';

const none: BackupsListed = { items: [], resourceVersion: '' };

/**
 * Those that are not settled: one LIST, and for the others nothing. Clusters wait for no backup: where they can't be
 * listed, this says why, and the pass goes on without.
 */
export async function listBackups(list: ListBackups, log: Log): Promise<BackupsListed> {
  try {
    return await list();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const cure =
      error.status === 404 || error.status === 403
        ? 'apply the CRDs and roles of this release (manifests/install)'
        : 'the next tick looks again';
    log({ problem: error.message }, `backups can't be listed, so none is taken: ${cure}`);
    return none;
  }
}

/** What an earlier release left without its mark is marked by so many a step. */
const mostMarked = 100;

/** What a step is worth: not what is on its way out. */
function worthAStep(items: readonly EtcdBackup[]): readonly EtcdBackup[] {
  const here = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const [unmarked, open] = [here.filter(isSettled), here.filter((one) => !isSettled(one))];
  return [...open, ...unmarked.filter(({ status }) => status?.settled === undefined).slice(0, mostMarked)];
}

type BackupsContext = Pick<
  StepAndWaitContext,
  | 'kube'
  | 'namespace'
  | 'holder'
  | 'log'
  | 'signal'
  | 'waitMs'
  | 'dryRun'
  | 'clusters'
  | 'fleet'
  | 'isStopped'
  | 'egress'
> & { readonly list: ListBackups };

/**
 * A step for each that is not settled; then, until `done`, another one for those whose Job changed or whose time has
 * come. Each step is small and its Job's name a lock, so that several in one invocation are as safe as one.
 */
export async function stepBackupsAndWait(
  context: BackupsContext,
  listed: BackupsListed | undefined,
  clusters: readonly EtcdCluster[],
  done: AbortSignal,
): Promise<readonly BackupResult[]> {
  const { kube, dryRun, signal, waitMs, isStopped = async () => false } = context;
  // Started for some objects only: backups are not among them.
  if (dryRun || context.clusters.length > 0 || context.fleet) return [];
  const { items, resourceVersion } = listed ?? (await listBackups(context.list, context.log));
  const unsettled = worthAStep(items);
  if (unsettled.length === 0) return [];
  const { stepBackups } = await import('../../reconcile/backup/pass.ts');
  let results = await stepBackups(unsettled, { ...context, clusters });
  if (waitMs <= 0) return results;
  const until = AbortSignal.any([signal, done, AbortSignal.timeout(waitMs)]);
  using changes = watchJobs(context, resourceVersion);
  while (!until.aborted && results.some(({ workRemains }) => workRemains)) {
    await changes.next(secondsToNextBackup(results, kube.now() ?? new Date()), until);
    if (until.aborted || (await isStopped())) break;
    const { items: again } = await listBackups(context.list, context.log);
    const stepped = await stepBackups(worthAStep(again), { ...context, clusters });
    const keys = new Set(stepped.map(keyOf));
    const gone = (result: BackupResult) => result.workRemains && !keys.has(keyOf(result));
    results = [...results.filter((one) => !keys.has(keyOf(one)) && !gone(one)), ...stepped];
  }
  return results;
}

interface Changes extends Disposable {
  /** Resolves at the next change of a Job that is news, when the time is over, or when it is cancelled. */
  next(seconds: number, until: AbortSignal): Promise<void>;
}

/** The Jobs of backups, from when the backups were listed. Without a watch the clock alone wakes. */
function watchJobs({ kube, namespace, log }: BackupsContext, resourceVersion: string): Changes {
  const closing = new AbortController();
  let heard = Promise.withResolvers<void>();
  void (async () => {
    const options = { namespace, labelSelector: labels.backup, resourceVersion, signal: closing.signal };
    try {
      for await (const { type, object } of kube.watch<Job>(resources.jobs, options)) {
        if (type === 'DELETED' || isOver(object)) heard.resolve();
      }
    } catch (error) {
      if (closing.signal.aborted) return;
      const problem = error instanceof Error ? error.message : String(error);
      log({ problem }, 'Jobs cannot be watched; the timers go on');
    }
  })();
  return {
    async next(seconds, until) {
      const over = new AbortController();
      const signal = AbortSignal.any([over.signal, until]);
      const slept = pause(seconds * 1000, undefined, { signal }).catch(() => undefined);
      await Promise.race([heard.promise, slept]);
      over.abort();
      heard = Promise.withResolvers();
    },
    [Symbol.dispose]: () => closing.abort(),
  };
}

function keyOf({ namespace, name }: BackupResult): string {
  return `${namespace}/${name}`;
}
