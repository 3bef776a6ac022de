import { parseQuantity, type Quantity } from '../../../manifests/api/quantity.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';

/**
 * Volumes that are smaller than the spec asks are grown. Needs no quorum: a full disk must be curable while nothing runs.
 *
 * After everything that keeps members running and sealed, because a storage class may refuse to grow, and that must stop
 * nothing else.
 */
export function growVolumes({ slots, effective }: Situation): Decision | undefined {
  const { size } = effective.inputs.storage;
  const isSmall = (recorded: Quantity) => parseQuantity(recorded) < parseQuantity(size);
  // The peer is told last: one that still has the old size is a growth that was not finished.
  const small = slots.flatMap(({ name, volume, peer }) =>
    peer?.current && volume?.bound && !volume.leaving && (isSmall(volume.size) || isSmall(peer.inputs.storage.size))
      ? [{ name, uid: volume.uid, size: String(size) }]
      : [],
  );
  if (small.length === 0) return undefined;
  return act({ kind: 'grow-volumes', volumes: small }, 'GrowingVolumes', `growing the volumes to ${size}`);
}
