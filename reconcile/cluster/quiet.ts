import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { pauseSeconds } from '../stepping/pause.ts';
import type { Waiting } from '../stepping/wake.ts';
import { type Wake, wakesOn } from './know/decision.ts';
import type { ClusterResult } from './result.ts';

/** Until a lost lease or a failed step is worth another look. */
const retrySeconds = 2;

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

/** It acted, or another invocation is about to end an action. */
export function isUnderWay({ outcome, decision }: ClusterResult): boolean {
  return outcome === 'acted' || outcome === 'lost' || isHeld(decision);
}

export function isHeld({ kind, reason }: ClusterResult['decision']): boolean {
  return kind === 'wait' && reason === 'AnotherInvocationActs';
}

/** What each cluster waits for. Looks that only the clock asks for are the rarer the longer nothing happens. */
export function clustersWake(results: readonly ClusterResult[], now: Date): readonly Waiting[] {
  const least = pauseSeconds(quietSeconds(results, now));
  const waiting = results.filter(({ workRemains }) => workRemains);
  return waiting.map((result) => ({
    key: `${result.namespace}/${result.name}`,
    wakes: wakesOf(result).map((wake) => notBefore(wake, least)),
  }));
}

/** The events that make another look worthwhile. A lease that another invocation won is over soon. */
export function wakesOf({ decision, outcome }: Pick<ClusterResult, 'decision' | 'outcome'>): readonly Wake[] {
  if (outcome === 'lost' || outcome === 'failed') return [{ on: 'time', afterSeconds: retrySeconds }];
  return wakesOn(decision);
}

function notBefore(wake: Wake, least: number): Wake {
  return wake.on === 'time' ? { on: 'time', afterSeconds: Math.max(wake.afterSeconds, least) } : wake;
}

function timesOf({ metadata, status }: EtcdCluster): readonly number[] {
  const { history = [], conditions = [] } = status ?? {};
  const told = [metadata.creationTimestamp, history.at(-1)?.at, ...conditions.map((one) => one.lastTransitionTime)];
  return told.flatMap((time) => (time === undefined ? [] : Date.parse(time)));
}
