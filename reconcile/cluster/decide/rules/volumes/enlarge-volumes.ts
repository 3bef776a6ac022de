import { parseQuantity, type Quantity } from '../../../../../manifests/api/quantity.ts';
import { act, type Decision } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * Volumes smaller than the spec asks are grown. Needs no quorum: a full disk must be curable while nothing runs.
 *
 * Below the rules that keep members running and sealed: a storage class may refuse to grow, and must hold up nothing.
 */
export function enlargeVolumes({ slots, effective }: Situation): Decision | undefined {
  const { size } = effective.inputs.storage;
  const isSmall = (recorded: Quantity) => parseQuantity(recorded) < parseQuantity(size);
  // The peer is written last: a peer with the old size marks an unfinished growth.
  const small = slots.flatMap(({ name, volume, peer }) =>
    peer?.current && volume?.bound && !volume.leaving && (isSmall(volume.size) || isSmall(peer.inputs.storage.size))
      ? [{ name, uid: volume.uid, size: String(size) }]
      : [],
  );
  if (small.length === 0) return undefined;
  return act({ kind: 'grow-volumes', volumes: small }, 'GrowingVolumes', `growing the volumes to ${size}`);
}
