import { parseDuration } from '../../../../manifests/api/duration.ts';
import { healingDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { PodView, Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';

/** `spec.healing`, in milliseconds. */
export function graceOf({ cluster }: Pick<Situation, 'cluster'>): { readonly pod: number; readonly member: number } {
  const { podGracePeriod, memberGracePeriod } = { ...healingDefaults, ...cluster.spec.healing };
  return { pod: parseDuration(podGracePeriod), member: parseDuration(memberGracePeriod) };
}

/**
 * Since when a member has been seen unhealthy. Read from status, which may be lost: then its time restarts, and it is
 * healed later. What is done about it depends on what is seen now.
 */
export function downSince(slot: Slot, situation: Pick<Situation, 'cluster'>): Date | undefined {
  const since = notedSince(slot, situation);
  return since === undefined ? undefined : new Date(since);
}

/** The same as it is written: it may be no time that can be read. */
export function notedSince({ name }: Slot, { cluster }: Pick<Situation, 'cluster'>): string | undefined {
  return cluster.status?.members?.find((member) => member.name === name)?.unhealthySince;
}

/** For how long, in milliseconds. */
export function downFor(slot: Slot, situation: Pick<Situation, 'cluster' | 'at'>): number {
  const since = downSince(slot, situation);
  return since === undefined ? 0 : Math.max(0, situation.at.getTime() - since.getTime());
}

/**
 * Its pod was told to end, should have ended, and has not for `podGracePeriod`. A pod that was only just told gets its
 * full time: however long its member was down before, that says nothing about its node.
 */
export function hasOutlasted(
  { pod }: { readonly pod?: Pick<PodView, 'leaving' | 'endsBy'> },
  situation: Pick<Situation, 'at' | 'cluster'>,
): boolean {
  if (!pod?.leaving) return false;
  return pod.endsBy === undefined || situation.at.getTime() - pod.endsBy.getTime() >= graceOf(situation).pod;
}
