import type { ListedMember } from '../etcd.ts';
import type { ActionOf } from './actions.ts';
import { differsFromPeers, verdictOf } from './hashes.ts';
import type { Seen } from './health.ts';
import { successorOf } from './leadership.ts';
import type { Slot } from './observation.ts';
import { isOnOtherDisk } from './sealed-disk.ts';

/**
 * Takes a member off the list, its volume marked before. Whoever it is, it may lead by then: where others can, one of them is
 * named, who leads first.
 */
export function removalOf(
  slot: Slot,
  member: Pick<ListedMember, 'id' | 'isLearner'>,
  clusterId: string,
  seen: Seen,
): ActionOf<'remove-member'> {
  const { name, volume } = slot;
  const successor = member.isLearner ? undefined : successorOf(slot, seen);
  const corrupt = corruptionOf(slot, member.id, seen);
  return {
    kind: 'remove-member',
    name,
    memberId: member.id,
    clusterId,
    ...(volume && { volume: { name, uid: volume.uid } }),
    ...(successor && { successor }),
    ...(corrupt && { corrupt }),
    ...(isOnOtherDisk(slot) && { keeps: true }),
  };
}

/** Who the others are that hold something else than this member, or than it found in them. */
function corruptionOf(slot: Slot, memberId: string, seen: Seen): ActionOf<'remove-member'>['corrupt'] {
  const verdict = verdictOf(seen);
  if (verdict.kind !== 'majority' || !seen.hashes) return undefined;
  if (!verdict.guilty.has(memberId) && !differsFromPeers(slot)) return undefined;
  return { revision: String(seen.hashes.revision), trusted: [...verdict.trusted] };
}
