import type { ActionOf } from './actions.ts';
import { successorOf } from './leadership.ts';
import type { Membership, Slot } from './observation.ts';

/**
 * Takes a member off the list, its volume marked before. Whoever it is, it may lead by then: where others can, one of them is
 * named, who leads first.
 */
export function removalOf(
  slot: Slot,
  memberId: string,
  { membership, slots }: { readonly membership: KnownMembership; readonly slots: readonly Slot[] },
): ActionOf<'remove-member'> {
  const { name, volume } = slot;
  const { clusterId, members } = membership;
  const isLearner = members.find(({ id }) => id === memberId)?.isLearner === true;
  const successor = isLearner ? undefined : successorOf(slot, { membership, slots });
  return {
    kind: 'remove-member',
    name,
    memberId,
    clusterId,
    ...(volume && { volume: { name, uid: volume.uid } }),
    ...(successor && { successor }),
  };
}

type KnownMembership = Extract<Membership, { kind: 'known' }>;
