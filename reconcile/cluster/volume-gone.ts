import type { VolumeView } from './observation.ts';

/**
 * Why a volume will not come back, told by its objects alone: its PersistentVolume is gone, or no Node object is left that it can be used
 * on. `undefined`: it may be there. A cordoned or a full node has it all the same, and what we may not read is no proof.
 */
export function whyGone({ lost, disk }: Pick<VolumeView, 'lost' | 'disk'>): string | undefined {
  if (disk?.state === 'gone') return `PersistentVolume ${disk.pv} is gone`;
  if (lost) return 'what was behind its claim is gone';
  if (disk?.homes === 'none') return `no node is left that has PersistentVolume ${disk.pv}`;
  return undefined;
}
