import type { RecoveryPodView } from '../observation.ts';

/** What the pod of a recovery's Job, or of a restore's, says of how it does. */

/** By a signal: an eviction, or a node that shuts down. */
export function isKilled({ code, reason }: NonNullable<RecoveryPodView['failure']>): boolean {
  return (code === 137 || code === 143) && reason !== 'OOMKilled';
}

/** Whether kubelet's or the scheduler's word means that it will not pass by itself. */
export function isLasting(word: string): boolean {
  return !passing.has(word);
}

const passing: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', 'SchedulerError']);
