import { clientServiceName, headlessServiceName } from '../../../manifests/build/names.ts';
import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';
import { hasOutlasted } from '../down.ts';
import { foreignCure, foreignOf, isHeldBack, leftoverIn } from '../leftovers.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { isOverdue, stays } from '../staying.ts';

/**
 * Objects of a deleted namesake of this cluster are still being collected: wait until they are gone. What bears our labels
 * and has no owner of ours is never collected: a person must look.
 *
 * A cluster that is born waits member by member (`leftovers.ts`): two sound volumes of three are a quorum, whatever a dead node keeps of the
 * third. A birth needs every member, and nothing else is done beside what is not ours in a recovery, which stops whatever there is.
 *
 * Guards I5 and the at-most-one-writer rule: an old pod may still write to the volume that a new member would open.
 */
export function awaitLeftovers(situation: Situation): Decision | undefined {
  const { slots, shared, life } = situation;
  const whole = life.stage !== 'born';
  const foreign = whole || slots.some(isInRecovery) ? foreignObject(situation) : foreignShared(situation);
  if (foreign !== undefined) {
    return refuse(
      'NameTaken',
      `there is ${foreign} with our labels, and none of our resources controls it; it is left alone`,
      foreignCure,
    );
  }
  const leaving = whole && slots.find(isHeldBack);
  if (leaving) return awaitEndOf(leaving, situation);
  if (Object.values(shared).some(({ state }) => state === 'leftover')) {
    return wait('OldObjectsLeaving', 'Services of an earlier resource are still being collected', {
      on: 'time',
      afterSeconds: 1,
    });
  }
  return undefined;
}

function awaitEndOf(slot: Slot, situation: Situation): Decision {
  if (hasOutlasted(slot, situation) || isOverdue(slot, situation)) return stays(slot);
  return wait(
    'OldObjectsLeaving',
    leftoverIn(slot),
    { on: 'change', of: 'pods' },
    { on: 'change', of: 'peers' },
    { on: 'change', of: 'statefulSets' },
    { on: 'time', afterSeconds: 2 },
  );
}

function isInRecovery(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return state === 'recovering' || state === 'recovered';
}

function foreignObject(situation: Situation): string | undefined {
  const [foreign] = situation.slots.flatMap((slot) => foreignOf(slot) ?? []);
  return foreign ?? foreignShared(situation);
}

function foreignShared({ cluster, shared }: Situation): string | undefined {
  const { name } = cluster.metadata;
  if (shared.headlessService.state === 'foreign') return `a Service ${headlessServiceName(name)}`;
  if (shared.clientService.state === 'foreign') return `a Service ${clientServiceName(name)}`;
  return shared.disruptionBudget.state === 'foreign' ? `a PodDisruptionBudget ${name}` : undefined;
}
