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
  const one = takenFor(asked) ?? inCommon(slots.filter(isAsleep));
  if (!one || wasWrittenSince(one, slots)) return undefined;
  return at.getTime() - Date.parse(one.endedAt) <= parseDuration(awaitedBackupFresh) ? one : undefined;
}

/** The time as volumes write it, whichever way the status has it. */
function takenFor(asked: Seen['awaitedBackup']): HibernationBackup | undefined {
  if (asked?.kind !== 'known' || asked.before !== 'hibernation' || asked.state !== 'good' || !asked.ended)
    return undefined;
  const { uid, at, revision } = asked.ended;
  const ended = new Date(at);
  if (Number.isNaN(ended.getTime())) return undefined;
  return { name: asked.name, uid, endedAt: timestamp(ended), ...(revision !== undefined && { revision }) };
}

/** A member answers with a later revision, or answers and it is not known what the backup holds. */
function wasWrittenSince({ revision }: HibernationBackup, slots: readonly Slot[]): boolean {
  const holds = revision === undefined ? -1n : BigInt(revision);
  return slots.some(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.revision > holds);
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
