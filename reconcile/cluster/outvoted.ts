import type { OutvotedMember } from '../../manifests/build/volume-record.ts';
import type { Slot } from './observation.ts';

/**
 * Members that a recovery left behind. Their volumes may turn up at any time, with what was recorded before the recovery: a claim
 * restored from a backup says `sealed`, in good faith. All volumes of those that went on remember who they were, and theirs is
 * the truth: to everybody else such a volume is `superseded`, whatever it says of itself.
 *
 * Two of them at once would be a quorum of the old cluster, and would take writes.
 */
export function withoutOutvoted(slots: readonly Slot[]): readonly Slot[] {
  const ids = new Set(outvotedBy(slots).map(({ memberId }) => memberId));
  if (ids.size === 0) return slots;
  return slots.map((slot) => {
    const { volume } = slot;
    if (volume?.record.kind !== 'valid' || !ids.has(volume.record.record.memberId ?? '')) return slot;
    const record = { ...volume.record.record, state: 'superseded' as const };
    return { ...slot, volume: { ...volume, record: { kind: 'valid' as const, record } } };
  });
}

/** All that any volume of these remembers. */
export function outvotedBy(slots: readonly Slot[]): readonly OutvotedMember[] {
  const all = slots.flatMap(({ volume }) =>
    volume?.record.kind === 'valid' ? (volume.record.record.outvoted ?? []) : [],
  );
  return [...new Map(all.map((member) => [member.memberId, member])).values()];
}
