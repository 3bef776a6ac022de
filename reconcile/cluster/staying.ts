import type { Situation } from './decide.ts';
import { type Decision, refuse } from './decision.ts';
import { downFor, graceOf, hasOutlasted } from './down.ts';
import { cureOf, foreignOf, isHeldBack, leftoverIn, podOnNode } from './leftovers.ts';
import { hasDeparted } from './life.ts';
import type { Slot } from './observation.ts';

/** What is waited for, and only a person can end: pods on nodes that never come back, and objects that something keeps. */

/** A pod that should long have ended, as on a node that is dead. */
export function podThatStays(slots: readonly Slot[], situation: Situation): Decision | undefined {
  const staying = slots.find((slot) => hasOutlasted(slot, situation));
  return staying && stays(staying);
}

/** Of members: only beyond their grace, because until then a replacement or the node itself may come. */
export function whatStays(situation: Situation): Decision | undefined {
  const staying = situation.slots.find(
    (slot) =>
      !hasDeparted(slot) &&
      isOverdue(slot, situation) &&
      (hasOutlasted(slot, situation) || (isHeldBack(slot) && foreignOf(slot) === undefined)),
  );
  return staying && stays(staying);
}

export function isOverdue(slot: Slot, situation: Situation): boolean {
  return downFor(slot, situation) >= graceOf(situation).member;
}

export function stays(slot: Slot): Decision {
  const { name, pod } = slot;
  if (!pod?.leaving)
    return refuse('OldObjectsStay', `${leftoverIn(slot)}, and ${name} is not started beside them`, cureOf(slot));
  return refuse(
    'PodStays',
    `${podOnNode(name, pod)} should have ended and has not, as on a node that is dead`,
    cureOf(slot),
  );
}
