import { downSince, graceOf } from '../health/grace.ts';
import type { Slot, Warning } from '../observation.ts';
import { isBeforeItsStart, warningsOf } from '../pods/blocked.ts';
import { mountsAreThere } from '../pods/mounts.ts';
import type { Situation } from '../situation.ts';

/** Failures that the disk itself may cause. A failed growth is cured by the spec. */
const codes: ReadonlySet<string> = new Set(['FailedAttachVolume', 'FailedMount']);

/** kubelet and the attach controller repeat their events every few minutes, at least every five. */
const silence = 10 * 60_000;

/**
 * Whether only another volume cures that this member's is not attached or mounted. The reasons only say that it failed,
 * for a broken disk as for a missing Secret. So everything else that such a pod needs must have been seen to exist: its
 * node is Ready, its Secrets exist, it mounts nothing unknown, a recreated pod has fared no better, and no other member
 * has the same trouble, as with a storage driver that is down. What could not be read counts as missing.
 */
export function isUnmountable(slot: Slot, situation: Situation): boolean {
  const { pod, volume } = slot;
  const { at, nodes } = situation;
  if (!pod?.node || !volume?.bound || pod.hasSandbox !== false || !isBeforeItsStart(slot)) return false;
  const since = downSince(slot, situation);
  if (since === undefined || pod.createdAt <= since) return false;
  if (nodes?.[pod.node]?.state !== 'ready' || !mountsAreThere(slot, situation)) return false;
  const last = Math.max(...reportsOf(slot).map((warning) => warning.at.getTime()));
  if (at.getTime() - last > silence) return false;
  return !situation.slots.some((other) => other !== slot && isHeldUpToo(other));
}

/** That alone has lasted for the grace period of a member, which may be down for longer for another cause. */
export function isLongUnmountable(slot: Slot, situation: Situation): boolean {
  const first = Math.min(...reportsOf(slot).map((warning) => warning.since.getTime()));
  return situation.at.getTime() - first >= graceOf(situation).member;
}

function reportsOf(slot: Slot): readonly Warning[] {
  return warningsOf(slot, 'pod').filter(({ reason }) => codes.has(reason));
}

/** Whether its events were read or not. */
function isHeldUpToo(slot: Slot): boolean {
  return slot.peer?.current === true && isBeforeItsStart(slot);
}
