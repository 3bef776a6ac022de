import type { SealedDisk } from '../../../../../manifests/render/sealed-disk.ts';
import { act, type Decision } from '../../../know/decision.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { isUnnoted, lacksHandle, provenDiskOf } from '../../../know/volumes/sealed-disk.ts';

/**
 * Healthy members whose volumes do not record their disk, or not its handle: sealed by an earlier release, or while the
 * PersistentVolume could not be read. Nothing restarts for it.
 */
export function knowDisks({ slots, life, membership }: Situation): Decision | undefined {
  if (life.stage !== 'born') return undefined;
  const noted = slots.flatMap((slot): Noted[] => {
    const disk = slot.peer?.current ? provenDiskOf(slot, { membership }) : undefined;
    const isNews = isUnnoted(slot) || (lacksHandle(slot) && disk?.handle !== undefined);
    return disk && isNews ? [{ slot, disk }] : [];
  });
  return noting(noted);
}

interface Noted {
  readonly slot: Slot;
  /** Absent: the disk that is found when it is recorded. */
  readonly disk?: SealedDisk;
}

export function noting(slots: readonly Noted[]): Decision | undefined {
  const volumes = slots.flatMap(({ slot: { name, volume }, disk }) =>
    volume ? [{ name, uid: volume.uid, ...(disk && { disk }) }] : [],
  );
  if (volumes.length === 0) return undefined;
  const names = volumes.map(({ name }) => name).join(', ');
  return act(
    { kind: 'note-disks', volumes },
    'NotingDisks',
    `recording which disk is behind ${names}: the member does not start on any other`,
  );
}
