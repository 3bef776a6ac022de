import { formatVersion, isSameMinor, minorOf, parseVersion } from '../../../../manifests/api/version.ts';
import { hasDeparted, recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

/**
 * Whether a roll of all members to this version has begun: `upgrade` tells the volume of each member before it gives it
 * that. What a member runs says nothing: one that is new, or was down, may have got it by another way.
 *
 * A minor that was begun is begun for each of its patches: no backup could be taken of the lower one alone any more.
 */
export function hasBegun(version: string, slots: readonly Slot[]): boolean {
  const wanted = parseVersion(version);
  return slots.some((slot) => {
    const record = recordOf(slot);
    if (record?.rollsTo === undefined || hasDeparted(slot)) return false;
    if (record.rollsTo === formatVersion(wanted)) return true;
    return isSameMinor(record.rollsTo, wanted) && minorOf(parseVersion(record.version)) < minorOf(wanted);
  });
}

/** Volumes say that it ran, and a member got another one: going back from what was not finished waits for nothing. */
export function isKept(version: string, slots: readonly Slot[]): boolean {
  return slots.some((slot) => slot.peer?.current && recordOf(slot)?.version === version);
}
