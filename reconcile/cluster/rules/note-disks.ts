import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import type { Slot } from '../observation.ts';
import { isUnnoted } from '../sealed-disk.ts';

/** Members that are well, and whose volumes do not say which disk that was: sealed by an earlier release. Nothing restarts for it. */
export function noteDisks({ slots, life }: Situation): Decision | undefined {
  return life.stage === 'born' ? noting(slots.filter((slot) => slot.peer?.current && isUnnoted(slot))) : undefined;
}

export function noting(slots: readonly Slot[]): Decision | undefined {
  const volumes = slots.flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  if (volumes.length === 0) return undefined;
  const names = volumes.map(({ name }) => name).join(', ');
  return act(
    { kind: 'note-disks', volumes },
    'NotingDisks',
    `noting which disk is behind ${names}: on any other the member is not started`,
  );
}
