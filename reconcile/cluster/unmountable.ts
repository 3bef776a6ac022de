import type { Situation } from './decide.ts';
import { downSince, graceOf } from './down.ts';
import { isBeforeItsStart, warningsOf } from './held-up.ts';
import { mountsAreThere } from './mounts.ts';
import type { Slot, Warning } from './observation.ts';

/** What may be the disk's own fault. A growth that fails is cured by the spec. */
const codes: ReadonlySet<string> = new Set(['FailedAttachVolume', 'FailedMount']);

/** kubelet and the attach controller repeat themselves every few minutes, and are heard at least every five. */
const silence = 10 * 60_000;

/**
 * Whether only another volume cures that this member's is not attached or mounted. The codes say no more than
 * that it failed, for a disk that is broken as for a Secret that is missing. So everything else that such a pod needs must have been seen to
 * be there: its node is Ready, its Secrets exist, it shows nothing that we don't look at, a pod made anew has fared no better, and no
 * other member has the same trouble, as with a storage driver that is down. What could not be read counts as not there.
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

/** That alone has lasted for the grace of a member, which may be down for longer than that for another cause. */
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
