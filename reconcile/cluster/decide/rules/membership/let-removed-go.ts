import { act, type Decision } from '../../../know/decision.ts';
import { wasRemovedByOthers } from '../../../know/health/down.ts';
import { downFor, graceOf } from '../../../know/health/grace.ts';
import { recordOf } from '../../../know/life.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * A member that is no longer on the list, and that etcd-ratchet did not remove, never returns under its ID: its peer is
 * deleted, and its volume is kept, in case the removal was wrong.
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
    `a person or a tool removed ${name} from the member list, which cannot be undone: its pod is deleted, its volume is kept`,
  );
}
