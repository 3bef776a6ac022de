import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isReason, type Kube, resources } from '../interfaces/kube.ts';
import type { Reading } from './reading.ts';
import { verificationAfter } from './verified.ts';

export type Attempt =
  /** `overtook`: another revision was attempted and never seen applied; its invocation may still be at work. */
  | { readonly kind: 'claimed'; readonly fleet: EtcdFleet; readonly overtook?: string }
  /** The fleet changed since it was read. */
  | { readonly kind: 'lost' };

/**
 * Records the revision that is about to be applied, by compare-and-swap on the fleet as read before the ref was
 * resolved: of two invocations with different commits, one must look again. A new attempt clears the inventory's
 * generations, so that an invocation that dies half-way leaves nothing that passes for applied. What was verified is
 * recorded as well: from now on the branch must contain it. @throws {KubeError} other than a conflict
 */
export async function claimRevision(
  kube: Kube,
  fleet: EtcdFleet,
  reading: Extract<Reading, { kind: 'tree' }>,
  signal: AbortSignal,
): Promise<Attempt> {
  const { status } = fleet;
  const { revision } = reading;
  const verification = verificationAfter(fleet, reading);
  const { attempted, applied } = status?.revision ?? {};
  const inventory = status?.inventory ?? [];
  const next = {
    ...status,
    observedGeneration: status?.observedGeneration ?? -1,
    revision: { ...status?.revision, attempted: revision },
    ...(verification && { verification }),
    ...(attempted === revision ? {} : { inventory: inventory.map((entry) => ({ ...entry, generation: 0 })) }),
  };
  try {
    const claimed = await kube.updateStatus(resources.fleets, { ...fleet, status: next }, { signal });
    const overtaken = attempted !== undefined && attempted !== revision && attempted !== applied;
    return { kind: 'claimed', fleet: claimed, ...(overtaken && { overtook: attempted }) };
  } catch (error) {
    if (isReason(error, 'Conflict')) return { kind: 'lost' };
    throw error;
  }
}

/** Whether the fleet still attempts this revision, read live. @throws {KubeError} */
export async function stillAttempts(
  kube: Kube,
  fleet: EtcdFleet,
  revision: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name, uid } = fleet.metadata;
  const live = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
  return live?.metadata.uid === uid && live?.status?.revision?.attempted === revision;
}
