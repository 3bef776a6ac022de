import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { BackupResult } from '../../reconcile/backup/step.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import { earliest, laterLook, share } from '../../reconcile/time/later-look.ts';
import type { PassNews } from './pass-context.ts';

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

type Remaining = Pick<PassNews, 'clusters'> & Partial<Pick<PassNews, 'backups' | 'nodes'>>;

/** Whether there is work that may go on before a tick would look. */
export function isAwaited({ clusters, backups = [], nodes = [] }: Remaining, now: Date): boolean {
  if (nodes.some(({ workRemains }) => workRemains)) return true;
  if (clusters.some(({ workRemains }) => workRemains) && pauseSeconds(quietSeconds(clusters, now)) < tickSeconds)
    return true;
  return backups.some(({ workRemains }) => workRemains) && secondsToNextBackup(backups, now) < tickSeconds;
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

/** Seconds to the next look at backups under way: rarer while nothing changes, because a watch tells a Job's end. */
export function secondsToNextBackup(results: readonly BackupResult[], now: Date): number {
  const waiting = results.filter(({ workRemains }) => workRemains);
  const times = waiting.flatMap(({ backup: { metadata, status } }) => [
    Date.parse(metadata.creationTimestamp ?? ''),
    Date.parse(status?.attempt?.startedAt ?? ''),
    ...(status?.conditions ?? []).map((one) => Date.parse(one.lastTransitionTime)),
  ]);
  const latest = Math.max(...times.filter((time) => !Number.isNaN(time)));
  const quiet = Math.max(0, (now.getTime() - latest) / 1000);
  const asked = waiting.flatMap(({ afterSeconds }) => afterSeconds ?? []);
  return Math.max(1, Math.min(...asked, Math.max(5, pauseSeconds(quiet))));
}

/** When one that is under way is worth a look of its own, where no follow-up waits for it. */
export function nextBackupLook(results: readonly BackupResult[], now: Date): Date | undefined {
  const times = results
    .filter(({ workRemains }) => workRemains)
    .map(({ afterSeconds = 0, backup: { metadata, status } }) => {
      const look = laterLook(status?.attempt?.startedAt ?? metadata.creationTimestamp, now);
      return new Date(Math.max(look.getTime(), now.getTime() + afterSeconds * 1000));
    });
  return earliest(...times);
}
