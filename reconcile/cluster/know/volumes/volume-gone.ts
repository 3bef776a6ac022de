import type { VolumeView } from '../observation.ts';

/**
 * Why a volume will not return, judged by its objects alone: its PersistentVolume is gone, or no Node object matches
 * its affinity. `undefined`: it may be there. A cordoned or a full node still has it, and what may not be read is no
 * proof.
 */
export function whyGone({ lost, disk }: Pick<VolumeView, 'lost' | 'disk'>): string | undefined {
  if (disk?.state === 'gone') return `PersistentVolume ${disk.pv} is gone`;
  if (lost) return 'the PersistentVolume of its PVC is gone';
  if (disk?.homes === 'none') return `no node is left that has PersistentVolume ${disk.pv}`;
  return undefined;
}
