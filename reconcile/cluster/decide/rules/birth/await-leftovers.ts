import { type Decision, refuse, wait } from '../../../know/decision.ts';
import { hasOutlasted } from '../../../know/health/grace.ts';
import { foreignCure, foreignOf, isBlockedByLeftovers, leftoverIn } from '../../../know/leftovers.ts';
import { isBeingRecovered } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { isOverdue, refuseStuck } from '../../../know/pods/stuck.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * Objects of a deleted namesake are still being collected: wait until they are gone. Objects with our labels and
 * without an owner of ours are never collected: a person must look.
 *
 * A cluster that is born waits member by member (`leftovers.ts`): two sound volumes of three are a quorum, whatever a
 * dead node keeps of the third. A birth needs every member. A recovery stops every pod, so it does not run beside
 * foreign objects.
 *
 * Guards I5 and the at-most-one-writer rule: an old pod may still write to the volume that a new member would open.
 */
export function awaitLeftovers(situation: Situation): Decision | undefined {
  const { slots, life } = situation;
  const whole = life.stage !== 'born';
  const foreign = whole || slots.some(isBeingRecovered) ? foreignObject(situation) : undefined;
  if (foreign !== undefined) {
    return refuse(
      'NameTaken',
      `there is ${foreign} with the labels of this cluster, and no resource of etcd-ratchet owns it: it is left alone`,
      foreignCure,
    );
  }
  const leaving = whole && slots.find(isBlockedByLeftovers);
  if (leaving) return awaitEndOf(leaving, situation);
  return undefined;
}

function awaitEndOf(slot: Slot, situation: Situation): Decision {
  if (hasOutlasted(slot, situation) || isOverdue(slot, situation)) return refuseStuck(slot);
  return wait(
    'OldObjectsLeaving',
    leftoverIn(slot),
    { on: 'change', of: 'pods' },
    { on: 'change', of: 'peers' },
    { on: 'change', of: 'statefulSets' },
    { on: 'time', afterSeconds: 2 },
  );
}

function foreignObject({ slots }: Situation): string | undefined {
  return slots.flatMap((slot) => foreignOf(slot) ?? [])[0];
}
