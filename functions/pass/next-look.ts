import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import type { PassNews } from './pass-context.ts';

/**
 * A look that costs requests comes after this part of the time in which nothing has happened: it is late by no more
 * than that.
 */
const share = 1 / 8;
/** What the CronJob of manifests/install costs by itself: from there on, its ticks are enough. In seconds. */
const tickSeconds = 60;

/**
 * Seconds since anything last happened to any of these clusters: an action, a condition that changed, its creation.
 * Fewer than it takes for what they merely wait for, because a member that crashes again and again tells something new
 * each time.
 */
export function quietSeconds(results: readonly ClusterResult[], now: Date): number {
  if (results.some(isUnderWay)) return 0;
  const times = results.flatMap(({ cluster }) => timesOf(cluster)).filter((time) => !Number.isNaN(time));
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, (now.getTime() - Math.max(...times)) / 1000);
}

/** Seconds that must be between two looks which nothing but the clock asks for. */
export function pauseSeconds(quiet: number): number {
  return Math.min(quiet * share, tickSeconds);
}

/**
 * Whether an invocation leaves what no follow-up may know that is under way. What a follow-up itself could not settle
 * in its time, it does not hand on as news: else it would go round.
 */
export function isNews({ moved, unsettled }: Pick<PassNews, 'moved' | 'unsettled'>, isFollowUp: boolean): boolean {
  return moved || (!isFollowUp && unsettled);
}

/** Whether there is work that may go on before a tick would look. */
export function isAwaited({ clusters }: Pick<PassNews, 'clusters'>, now: Date): boolean {
  return clusters.some(({ workRemains }) => workRemains) && pauseSeconds(quietSeconds(clusters, now)) < tickSeconds;
}

/** It acted, or another invocation is about to end an action. */
export function isUnderWay({ outcome, decision }: ClusterResult): boolean {
  return outcome === 'acted' || outcome === 'lost' || isHeld(decision);
}

export function isHeld({ kind, reason }: ClusterResult['decision']): boolean {
  return kind === 'wait' && reason === 'AnotherInvocationActs';
}

function timesOf({ metadata, status }: EtcdCluster): readonly number[] {
  const { history = [], conditions = [] } = status ?? {};
  const told = [metadata.creationTimestamp, history.at(-1)?.at, ...conditions.map((one) => one.lastTransitionTime)];
  return told.flatMap((time) => (time === undefined ? [] : Date.parse(time)));
}
