import type { Ailment } from './ailment.ts';
import type { Situation } from './decide.ts';
import { downFor, graceOf } from './down.ts';
import { ailmentOf } from './health.ts';
import type { Slot } from './observation.ts';
import { startsUntil } from './startup.ts';

/** The first of these members' ailments that a person must see to: it does not pass by itself, or has not for the grace of a member. */
export function personsAilment(slots: readonly Slot[], situation: Situation): Ailment | undefined {
  const ailments = slots.flatMap((slot) => {
    const ailment = ailmentOf(slot, situation);
    return ailment ? [{ slot, ailment }] : [];
  });
  const lasting = ailments.find(({ ailment }) => !ailment.passing);
  return (lasting ?? ailments.find(({ slot, ailment }) => ailment.cure !== '' && isOverdue(slot, situation)))?.ailment;
}

function isOverdue(slot: Slot, situation: Situation): boolean {
  return downFor(slot, situation) >= graceOf(situation).member && !mayBeStarting(slot, situation);
}

/** In its first run. One that kubelet has ended is no longer only slow. */
function mayBeStarting({ pod }: Slot, { at }: Situation): boolean {
  const due = pod && startsUntil(pod);
  return due !== undefined && pod?.container.restarts === 0 && at < due;
}
