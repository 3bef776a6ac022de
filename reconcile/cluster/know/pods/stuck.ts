import { type Decision, refuse } from '../decision.ts';
import { downFor, graceOf, hasOutlasted } from '../health/grace.ts';
import { cureOf, endCure, foreignOf, isBlockedByLeftovers, leftoverIn, podOnNode } from '../leftovers.ts';
import { hasDeparted } from '../life.ts';
import type { Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';

/** Waits that only a person can end: for pods on nodes that never return, and for objects with finalizers. */

/** A pod that should long have ended, as on a node that is dead. */
export function stuckPod(slots: readonly Slot[], situation: Situation): Decision | undefined {
  const stuck = slots.find((slot) => hasOutlasted(slot, situation));
  return stuck && refuseStuck(stuck);
}

/** The same for the Job of a recovery: while its pod exists, it may have the data open that all else depends on. */
export function stuckRecoveryPod(situation: Situation): Decision | undefined {
  const { recovery } = situation;
  const pods = recovery?.kind === 'known' ? recovery.pods : [];
  const stuck = pods.find((pod) => hasOutlasted({ pod }, situation));
  if (!stuck) return undefined;
  const { name, node } = stuck;
  const where = node === undefined ? '' : ` on node ${node}`;
  const message = `pod ${name}${where} of the recovery should have ended and has not, as on a node that is dead`;
  return refuse(
    'PodStays',
    `${message}: nothing is started on its data beside it`,
    endCure(situation.cluster.metadata, name, node),
  );
}

/** Of members: only beyond their grace period, because until then a replacement or the node itself may come. */
export function stuckMember(situation: Situation): Decision | undefined {
  const stuck = situation.slots.find(
    (slot) =>
      !hasDeparted(slot) &&
      isOverdue(slot, situation) &&
      (hasOutlasted(slot, situation) || (isBlockedByLeftovers(slot) && foreignOf(slot) === undefined)),
  );
  return stuck && refuseStuck(stuck);
}

export function isOverdue(slot: Slot, situation: Situation): boolean {
  return downFor(slot, situation) >= graceOf(situation).member;
}

export function refuseStuck(slot: Slot): Decision {
  const { name, pod } = slot;
  if (!pod?.leaving)
    return refuse('OldObjectsStay', `${leftoverIn(slot)}, and ${name} does not start beside them`, cureOf(slot));
  return refuse(
    'PodStays',
    `${podOnNode(name, pod)} should have ended and has not, as on a node that is dead`,
    cureOf(slot),
  );
}
