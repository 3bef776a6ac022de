import { abortAfter } from '../../../manifests/abort-after.ts';
import { isHeld } from '../../../reconcile/cluster/quiet.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { keyOf } from '../../../reconcile/fleet/names.ts';
import { pageLinks } from '../../../reconcile/fleet/page-links.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { isAwaited, isNews, type ObjectName } from '../../../reconcile/stepping/kind.ts';
import { hasActed } from '../../../reconcile/stepping/result.ts';
import { identityFrom, pageUrlFrom } from '../../environment.ts';
import { goOn } from '../../pass/follow-up/go-on.ts';
import { reachOf } from '../../pass/follow-up/reach.ts';
import { pass } from '../../pass/pass.ts';
import type { PassContext, PassResult } from '../../pass/pass-context.ts';
import type { Reader } from '../../read/reader.ts';
import type { ServeContext } from '../route-group.ts';
import { type Change, seeing } from './change.ts';
import type { Holders } from './holders.ts';

export type Done =
  | {
      readonly kind: 'handled';
      readonly clusters: readonly ClusterResult[];
      /** What the API server said of the objects of these clusters. */
      readonly seen: readonly Change[];
    }
  /** Worth another attempt, soon. */
  | { readonly kind: 'retry'; readonly because: string }
  | { readonly kind: 'nothing'; readonly because: string };

export interface Task {
  readonly kind: 'tick' | 'step' | 'follow-up';
  /** None: all. */
  readonly clusters: readonly string[];
  /** How many follow-ups before this one have seen nothing move. */
  readonly again?: number;
}

/** Seconds. All within what the Service lets a request take (manifests/knative). */
const limits = { tick: 50, step: 30, 'follow-up': 50 } as const;
/** Seconds that a follow-up waits for what the decisions named, as a follow-up Job does. */
const waitSeconds = 25;
/** With the first, more than the minute after which a clock's event starts the next line. */
const mostAgain = 2;

/**
 * One pass inside the request: a platform that scales to zero may stop the process after the answer. The rest is left
 * to later events (a pod becomes ready), or to a follow-up. @throws {KubeError} when no pass could be made
 */
export async function carryOut(
  task: Task,
  { kube, log, env, namespace, holders, reader }: ServeContext & { readonly holders: Holders; readonly reader: Reader },
): Promise<Done> {
  const { cronJob } = identityFrom(env);
  using holder = holders.enter();
  const ms = limits[task.kind] * 1000;
  const signal = abortAfter(ms);
  const stopped = async () => {
    if (!cronJob) return false;
    const { isStopped } = await import('../../pass/follow-up/follow-up.ts');
    return isStopped(kube, cronJob, signal);
  };
  if (await stopped()) return { kind: 'nothing', because: 'the CronJob is suspended' };
  const { url: page } = pageUrlFrom(env);
  const watched = seeing(kube.bounded());
  const result = await pass({
    ...reachOf({ kube: watched.kube, log, signal, holder, deadline: Date.now() + ms }),
    namespace,
    clusters: task.clusters.map(objectName),
    dryRun: false,
    reader,
    followUp: task.kind !== 'tick',
    tellFleets: true,
    waitMs: task.kind === 'follow-up' ? waitSeconds * 1000 : 0,
    isStopped: stopped,
    ...(page && { links: pageLinks(page) }),
  } satisfies PassContext);
  if (signal.aborted) return { kind: 'retry', because: 'the pass was cut short' };
  const hasFailed = task.kind === 'step' && result.clusters.some(({ outcome }) => outcome === 'failed');
  if (!hasFailed && cronJob && isWorthGoingOn(task, result, kube.now() ?? new Date())) {
    const isNew = isNews(result, task.kind !== 'tick');
    const again = isNew ? 0 : (task.again ?? 0) + 1;
    const isGoingOn = await goOn(result, { kube, env, cronJob, log, signal, isNew, again });
    if (!isGoingOn && task.kind !== 'tick') return { kind: 'retry', because: 'no follow-up could be made' };
  }
  return { kind: 'handled', clusters: result.clusters, seen: watched.of(lookedAt(result.clusters)) };
}

/**
 * Of which clusters the last list of the pass was looked at. A change that comes after a look that was skipped is news,
 * although a list for others had it.
 */
export function lookedAt(clusters: readonly ClusterResult[]): ReadonlySet<string> {
  return new Set(clusters.filter(({ look }) => look !== 'skipped').map(({ cluster }) => keyOf(cluster)));
}

/**
 * A tick starts follow-ups; every other event only after its own action. One invocation acts, so one chain lives on,
 * however many events come. Other waits end with an event or by the clock. The end of an abandoned lease is no event,
 * so the follow-up that saw it last looks again.
 */
export function isWorthGoingOn(
  { kind, again = 0 }: Pick<Task, 'kind' | 'again'>,
  result: Pick<PassResult, 'workRemains' | 'results' | 'moved' | 'unsettled'>,
  now: Date,
): boolean {
  const { workRemains, results } = result;
  if (!workRemains) return false;
  if (kind === 'tick') return isNews(result, false) || isAwaited(kinds, results, now);
  if (Object.values(results).flat().some(hasActed)) return true;
  if (kind === 'step') return false;
  const { cluster: clusters = [] } = results;
  return clusters.some(({ decision }) => isHeld(decision)) || (again < mostAgain && isAwaited(kinds, results, now));
}

function objectName(key: string): ObjectName {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
