import type { Slot } from '../observation.ts';
import { startsUntil } from '../pods/startup.ts';
import type { Situation } from '../situation.ts';
import type { Ailment } from './ailment.ts';
import { downFor, graceOf } from './grace.ts';
import { ailmentOf } from './health.ts';

/** The first ailment that a person must cure: it does not pass by itself, or has lasted a member's grace period. */
export function personsAilment(slots: readonly Slot[], situation: Situation): Ailment | undefined {
  const ailments = slots.flatMap((slot) => {
    const ailment = ailmentOf(slot, situation);
    return ailment ? [{ slot, ailment }] : [];
  });
  const lasting = ailments.find(({ ailment }) => !ailment.passing);
  const causes = ailments.filter(({ ailment }) => ailment.reason !== 'NoQuorum');
  // Members that run wait for those that do not: only where all run is that the ailment itself.
  const overdue = (causes.length > 0 ? causes : ailments).find(
    ({ slot, ailment }) => ailment.cure !== '' && isOverdue(slot, situation),
  );
  return (lasting ?? overdue)?.ailment;
}

function isOverdue(slot: Slot, situation: Situation): boolean {
  return downFor(slot, situation) >= graceOf(situation).member && !mayBeStarting(slot, situation);
}

/** In its first run. A container that kubelet has ended once is no longer only slow. */
function mayBeStarting({ pod }: Slot, { at }: Situation): boolean {
  const due = pod && startsUntil(pod);
  return due !== undefined && pod?.container.restarts === 0 && at < due;
}
