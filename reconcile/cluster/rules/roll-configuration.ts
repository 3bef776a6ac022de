import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { leads } from '../leadership.ts';
import type { Slot } from '../observation.ts';
import { waitForRoom } from '../wait-for-room.ts';

/**
 * Another configuration, for a cluster that is well: one member's template at a time, the leader's last; `finish-rolling` then
 * starts that member anew. The gate lets the next one pass only when this one is healthy again, so a bad commit stops at the
 * first member that it broke, and reverting it cures that one (`cure-configuration`).
 *
 * Guards I1.
 */
export function rollConfiguration(situation: Situation): Decision | undefined {
  const { slots, effective, crowdedBy } = situation;
  const { inputs } = effective;
  const wanted = inputsHash(inputs);
  const outdated = slots.filter((slot) => isOutdated(slot, wanted));
  const [next] = outdated.toSorted((a, b) => reluctance(a, situation) - reluctance(b, situation));
  if (!next?.peer) return undefined;
  const begun = outdated.length < slots.filter(({ peer }) => peer?.current).length;
  if (crowdedBy && !begun) return waitForRoom(situation);
  const left = outdated.length > 1 ? `; ${outdated.length - 1} to follow` : '';
  return act(
    { kind: 'change-template', peer: { name: next.name, uid: next.peer.uid }, inputs },
    'RollingConfiguration',
    `giving ${next.name} the configuration that the spec asks for${left}`,
  );
}

/** Peer or template: whoever died between the two writes left a peer that says more than its template has. */
function isOutdated({ peer, statefulSet }: Slot, wanted: string): boolean {
  if (!peer?.current) return false;
  return inputsHash(peer.inputs) !== wanted || (statefulSet !== undefined && statefulSet.inputsHash !== wanted);
}

/**
 * A member whose Secret is gone runs on the files that it has, and would not come back: it is the last, when all others trust
 * the CA that can sign for it.
 */
export function reluctance(slot: Slot, { certificates }: Situation): number {
  const leaves = certificates.kind === 'read' ? certificates.leaves : [];
  const mountable = leaves.every(({ plan, facts }) => plan.peer !== slot.name || facts !== undefined);
  return (mountable ? 0 : 2) + (leads(slot) ? 1 : 0);
}
