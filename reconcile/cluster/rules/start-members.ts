import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { adoptable } from './adopt.ts';

/**
 * Peers that have everything but a StatefulSet get one.
 *
 * It comes after `beBorn` and `adopt`, which speak until every recorded member is prepared: none starts before all are
 * recorded. Without its volume nothing starts (I5).
 */
export function startMembers({ slots, life }: Situation): Decision | undefined {
  if (life.stage !== 'birth' && life.stage !== 'born') return undefined;
  const peers = slots
    .filter((slot) => slot.peer && mayStart(slot) && slot.configMap && !slot.statefulSet)
    .map(({ name }) => name);
  if (peers.length === 0) return undefined;
  return act({ kind: 'start-members', peers }, 'StartingMembers', `starting ${peers.join(', ')}`);
}

function mayStart(slot: Slot): boolean {
  const record = recordOf(slot);
  return record !== undefined && adoptable[record.state] && !slot.volume?.leaving;
}
