import { type Etcd, EtcdError } from '../../interfaces/etcd.ts';
import { type EtcdWay, withEtcd } from '../etcd-way.ts';
import { recordOf } from '../know/life.ts';
import type { Endpoint, Observation, Slot } from '../know/observation.ts';
import { type EtcdAnswers, endpointOf, isReachable } from './ask-etcd.ts';

/**
 * Where no quorum answers: what members tell that run and answer no client, because they were started without one.
 * Not within the budget of the other questions, which such members use up.
 */
export async function askMetrics(
  way: EtcdWay,
  { membership, slots, at }: Pick<EtcdAnswers, 'membership' | 'slots'> & Pick<Observation, 'at'>,
  signal: AbortSignal,
): Promise<Pick<EtcdAnswers, 'slots'>> {
  const tells = (slot: Slot): slot is Silent => isSilent(slot) && (mayBeAnew(slot) || isLate(slot, at));
  if (membership.kind === 'known' || !slots.some(tells)) return { slots };
  return withEtcd(way, async (etcd) => ({
    slots: await Promise.all(slots.map((slot) => (tells(slot) ? asking(etcd, slot, signal) : slot))),
  }));
}

type Silent = Slot & { readonly endpoint: Extract<Endpoint, { kind: 'unknown' }> };

function isSilent(slot: Slot): slot is Silent {
  const { endpoint } = slot;
  return endpoint.kind === 'unknown' && endpoint.tls === undefined && isReachable(slot);
}

function mayBeAnew(slot: Slot): boolean {
  return recordOf(slot)?.memberId !== undefined;
}

/** Milliseconds. Without data, etcd has applied its first entries by then also on a machine that is hardly its own. */
const birthMs = 120_000;

function isLate(slot: Slot, at: Date): boolean {
  const since = slot.pod?.container.startedAt;
  if (recordOf(slot)?.state !== 'bootstrapping' || since === undefined) return false;
  return at.getTime() - since.getTime() >= birthMs;
}

async function asking(etcd: Etcd, slot: Silent, signal: AbortSignal): Promise<Slot> {
  try {
    const metrics = await etcd.metrics(endpointOf(slot), { signal });
    return { ...slot, endpoint: { ...slot.endpoint, [mayBeAnew(slot) ? 'metrics' : 'atBirth']: metrics } };
  } catch (error) {
    if (error instanceof EtcdError) return slot;
    throw error;
  }
}
