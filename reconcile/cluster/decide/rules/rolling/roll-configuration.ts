import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { leads } from '../../../know/membership/leadership.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { meanwhile, restartOf } from '../../restarting.ts';
import { waitToRoll } from '../../wait-for-window.ts';

/**
 * Another configuration for a healthy cluster: one member at a time, the leader last, gets the template and restarts.
 * `finish-rolling` completes what a crash left. The gate admits the next member only when this one is healthy again, so
 * a bad commit stops at the first member that it broke, and reverting it cures that one (`cure-configuration`).
 *
 * Guards I1.
 */
export function rollConfiguration(situation: Situation): Decision | undefined {
  const { slots, effective } = situation;
  const { inputs } = effective;
  const wanted = inputsHash(inputs);
  const outdated = slots.filter((slot) => isOutdated(slot, wanted));
  const [next] = outdated.toSorted((a, b) => reluctance(a, situation) - reluctance(b, situation));
  if (!next?.peer) return undefined;
  const begun = outdated.length < slots.filter(({ peer }) => peer?.current).length;
  const held = waitToRoll(situation, begun);
  if (held) return held;
  const left = outdated.length > 1 ? `; ${outdated.length - 1} to follow` : '';
  const restart = restartOf(next, situation);
  const anew = restart ? `, and restarting it${meanwhile(situation)}` : '';
  return act(
    { kind: 'change-template', peer: { name: next.name, uid: next.peer.uid }, inputs, ...(restart && { restart }) },
    'RollingConfiguration',
    `giving ${next.name} the configuration of the spec${anew}${left}`,
  );
}

/** Peer or template: an invocation that died between the two writes left a peer that is ahead of its template. */
function isOutdated({ peer, statefulSet }: Slot, wanted: string): boolean {
  if (!peer?.current) return false;
  return inputsHash(peer.inputs) !== wanted || (statefulSet !== undefined && statefulSet.inputsHash !== wanted);
}

/**
 * Its Secret is missing: the member runs with the files that it has loaded, and would not restart. It comes last, when
 * all others trust the CA that can sign for it.
 */
export function reluctance(slot: Slot, { certificates }: Situation): number {
  const leaves = certificates.kind === 'read' ? certificates.leaves : [];
  const mountable = leaves.every(({ plan, facts }) => plan.peer !== slot.name || facts !== undefined);
  return (mountable ? 0 : 2) + (leads(slot) ? 1 : 0);
}
