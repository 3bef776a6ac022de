import { type Etcd, EtcdError } from '../../interfaces/etcd.ts';
import { type EtcdWay, withEtcd } from '../etcd-way.ts';
import { recordOf } from '../know/life.ts';
import type { Endpoint, Slot } from '../know/observation.ts';
import { type EtcdAnswers, endpointOf, isReachable } from './ask-etcd.ts';

/**
 * Where no quorum answers: what members tell that run and answer no client, because they were started without one.
 * Not within the budget of the other questions, which such members use up.
 */
export async function askMetrics(
  way: EtcdWay,
  { membership, slots }: Pick<EtcdAnswers, 'membership' | 'slots'>,
  signal: AbortSignal,
): Promise<Pick<EtcdAnswers, 'slots'>> {
  if (membership.kind === 'known' || !slots.some(mayBeAnew)) return { slots };
  return withEtcd(way, async (etcd) => ({
    slots: await Promise.all(slots.map((slot) => (mayBeAnew(slot) ? asking(etcd, slot, signal) : slot))),
  }));
}

type Silent = Slot & { readonly endpoint: Extract<Endpoint, { kind: 'unknown' }> };

function mayBeAnew(slot: Slot): slot is Silent {
  const { endpoint } = slot;
  if (endpoint.kind === 'known' || endpoint.tls !== undefined) return false;
  return isReachable(slot) && recordOf(slot)?.memberId !== undefined;
}

async function asking(etcd: Etcd, slot: Silent, signal: AbortSignal): Promise<Slot> {
  try {
    const metrics = await etcd.metrics(endpointOf(slot), { signal });
    return { ...slot, endpoint: { ...slot.endpoint, metrics } };
  } catch (error) {
    if (error instanceof EtcdError) return slot;
    throw error;
  }
}
