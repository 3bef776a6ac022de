import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { downFor, graceOf, wasRemovedByOthers } from '../down.ts';
import { recordOf } from '../life.ts';

/**
 * A member that we did not remove, and that is not on the list any more, will never be one again: its peer goes, its volume is
 * kept, for the one who removed it.
 */
export function letRemovedGo(situation: Situation): Decision | undefined {
  const { membership, slots, life } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  const gone = slots.find(
    (slot) => wasRemovedByOthers(slot, situation) && downFor(slot, situation) >= graceOf(situation).pod,
  );
  const memberId = gone && recordOf(gone)?.memberId;
  if (!gone?.volume || !gone.peer || memberId === undefined) return undefined;
  const { name, volume, peer } = gone;
  return act(
    {
      kind: 'retire-member',
      name,
      clusterId: membership.clusterId,
      ...(!peer.leaving && { peer: { name, uid: peer.uid } }),
      volume: { name, uid: volume.uid, memberId, state: 'superseded', keep: true },
    },
    'RetiringMember',
    `somebody removed ${name} from the member list, which is for ever: its pod goes, its volume is kept`,
  );
}
