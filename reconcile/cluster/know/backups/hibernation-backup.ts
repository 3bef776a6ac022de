import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../../../../manifests/api/duration.ts';
import { awaitedBackupFresh } from '../../../../manifests/api/spec-defaults.ts';
import type { HibernationBackup } from '../../../../manifests/render/volume-record.ts';
import { timestamp } from '../../../time/timestamp.ts';
import { hasDeparted, isAsleep, recordOf } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';

/** Which backup a cluster was put to sleep on. Its volumes remember it, until they wake. */

type Seen = Pick<Observation, 'slots' | 'at' | 'awaitedBackup'>;

/**
 * What volumes are to remember when their members stop now: a good backup that ended as recently as what waits for one
 * asks, and holds all that they have. `undefined`: something was written since, or no such backup is known.
 */
export function hibernationBackupNow({ slots, at, awaitedBackup: asked }: Seen): HibernationBackup | undefined {
  // Volumes are told one after another, and an invocation may have died in between.
  const one = takenFor(asked, slots) ?? inCommon(slots.filter(isAsleep));
  return one && at.getTime() - Date.parse(one.endedAt) <= parseDuration(awaitedBackupFresh) ? one : undefined;
}

/** The time as volumes write it, whichever way the status has it. Not where a member has later writes by now. */
function takenFor(asked: Seen['awaitedBackup'], slots: readonly Slot[]): HibernationBackup | undefined {
  if (asked?.kind !== 'known' || asked.before !== 'hibernation' || asked.state !== 'good' || !asked.ended)
    return undefined;
  const holds = BigInt(asked.ended.revision ?? Number.MAX_SAFE_INTEGER);
  if (slots.some(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.revision > holds)) return undefined;
  const ended = new Date(asked.ended.at);
  if (Number.isNaN(ended.getTime())) return undefined;
  return { name: asked.name, uid: asked.ended.uid, endedAt: timestamp(ended) };
}

/** With the etcd cluster that it must be of. `undefined`: a member runs, or may have since, or no backup was taken. */
export function hibernationBackupOf(
  slots: readonly Slot[],
): (HibernationBackup & { readonly clusterId: string }) | undefined {
  const ours = slots.filter((slot) => slot.volume && !hasDeparted(slot));
  const ids = new Set(ours.map((slot) => recordOf(slot)?.clusterId));
  const [clusterId] = ids;
  const isAtRest = ours.every(isAsleep) && !doesAnyRun(slots);
  const one = isAtRest && ids.size === 1 ? inCommon(ours) : undefined;
  return one && clusterId !== undefined ? { ...one, clusterId } : undefined;
}

/** Or may: what should have ended may still write. */
export function doesAnyRun(slots: readonly Slot[]): boolean {
  return slots.some(({ pod, statefulSet }) => pod !== undefined || statefulSet !== undefined);
}

function inCommon(slots: readonly Slot[]): HibernationBackup | undefined {
  const [first, ...others] = slots.map((slot) => recordOf(slot)?.hibernationBackup);
  return others.every((one) => isDeepStrictEqual(one, first)) ? first : undefined;
}
