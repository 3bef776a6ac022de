import type { OutvotedMember } from '../../manifests/build/volume-record.ts';
import { hasDeparted, recordOf } from './life.ts';
import type { Slot } from './observation.ts';

/**
 * Members that a recovery left behind. Their volumes may turn up at any time, with what was recorded before the recovery: a claim
 * restored from a backup says `sealed`, in good faith. All volumes of those that went on remember who they were, and theirs is
 * the truth: to everybody else such a volume is `superseded`, whatever it says of itself.
 *
 * Two of them at once would be a quorum of the old cluster, and would take writes.
 */
export function withoutOutvoted(slots: readonly Slot[]): readonly Slot[] {
  return slots.map((slot) => {
    const record = recordOf(slot);
    const isLeftBehind = slots.some((other) => leftBehind(other, slot) && !leftBehind(slot, other));
    if (!slot.volume || !record || hasDeparted(slot) || !isLeftBehind) return slot;
    const superseded = { ...record, state: 'superseded' as const };
    return { ...slot, volume: { ...slot.volume, record: { kind: 'valid', record: superseded }, unmarked: true } };
  });
}

/** Two that say it of each other are both heard no more (`TwoRecoveries`). */
function leftBehind(by: Slot, { volume }: Slot): boolean {
  const memberId = recordOf({ ...(volume && { volume }) })?.memberId;
  return memberId !== undefined && outvotedBy([by]).some((one) => one.memberId === memberId);
}

/** All that volumes of these remember. Those that were left behind, or given up, have no say: who lives remembers it all. */
export function outvotedBy(slots: readonly Slot[]): readonly OutvotedMember[] {
  const all = slots.flatMap((slot) => (hasDeparted(slot) ? [] : (recordOf(slot)?.outvoted ?? [])));
  return [...new Map(all.map((member) => [member.memberId, member])).values()];
}

/** Whose own claims do not say so yet: by somebody's death, or because they were restored since. With one that knows better. */
export function unmarkedOf(
  slots: readonly Slot[],
): { readonly witness: Slot; readonly unmarked: readonly Slot[] } | undefined {
  for (const witness of slots.filter(({ volume }) => volume?.leaving === false)) {
    const unmarked = slots.filter((slot) => slot.volume?.unmarked && leftBehind(witness, slot));
    if (unmarked.length > 0) return { witness, unmarked };
  }
  return undefined;
}
