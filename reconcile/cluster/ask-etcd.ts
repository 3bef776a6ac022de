import { ports, schemeOf } from '../../manifests/build/names.ts';
import { type Etcd, EtcdError } from '../etcd.ts';
import type { Endpoint, Membership, Slot } from './observation.ts';

export interface EtcdAnswers {
  readonly membership: Membership;
  readonly slots: readonly Slot[];
}

/**
 * What etcd itself says: the member list, linearizable, so that a quorum stands behind it; and each endpoint's status, asked
 * of that very endpoint. All at once: a member that hangs costs the others nothing.
 *
 * Not behind a barrier: no membership change of ours can be under way yet. The list is read again just before anything
 * acts on it.
 */
export async function askEtcd(
  connect: () => Promise<Etcd>,
  slots: readonly Slot[],
  signal: AbortSignal,
): Promise<EtcdAnswers> {
  const reachable = slots.filter(isReachable);
  if (reachable.length === 0) {
    return { membership: { kind: 'unknown', cause: 'no member runs' }, slots };
  }
  const etcd = await connect();
  try {
    const [membership, version, asked] = await Promise.all([
      askMembers(etcd, reachable.map(endpointOf), signal),
      askVersion(etcd, reachable, signal),
      Promise.all(
        slots.map(async (slot) =>
          reachable.includes(slot) ? { ...slot, endpoint: await askEndpoint(etcd, slot, signal) } : slot,
        ),
      ),
    ]);
    return { membership, slots: asked.map((slot) => withVersion(slot, version)) };
  } finally {
    etcd.close();
  }
}

/** Whether anything may listen there. */
export function isReachable({ pod }: Slot): boolean {
  return pod?.address !== undefined && pod.container.state === 'running';
}

async function askMembers(etcd: Etcd, endpoints: readonly string[], signal: AbortSignal): Promise<Membership> {
  try {
    const { clusterId, members } = await etcd.members(endpoints, { signal });
    return { kind: 'known', clusterId, members };
  } catch (error) {
    return { kind: 'unknown', cause: causeOf(error) };
  }
}

async function askEndpoint(etcd: Etcd, slot: Slot, signal: AbortSignal): Promise<Endpoint> {
  try {
    return { kind: 'known', status: await etcd.status(endpointOf(slot), { signal }), clusterVersion: undefined };
  } catch (error) {
    const tls = error instanceof EtcdError ? error.tls : undefined;
    return { kind: 'unknown', cause: causeOf(error), ...(tls !== undefined && { tls }) };
  }
}

interface Told {
  readonly by: string;
  readonly cluster: string;
}

/**
 * The cluster version, from the first who tells it: it is the cluster's, so one answer is enough. A member that answers Status
 * but not `/version` is not down for it.
 */
async function askVersion(etcd: Etcd, reachable: readonly Slot[], signal: AbortSignal): Promise<Told | undefined> {
  for (const slot of reachable) {
    try {
      const { cluster } = await etcd.version(endpointOf(slot), { signal });
      return { by: slot.name, cluster };
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
    }
  }
  return undefined;
}

function withVersion(slot: Slot, told: Told | undefined): Slot {
  if (slot.name !== told?.by || slot.endpoint.kind === 'unknown') return slot;
  return { ...slot, endpoint: { ...slot.endpoint, clusterVersion: told.cluster } };
}

/** By pod address: DNS may still hold, or not yet have, the name of a pod that was just replaced. */
export function endpointOf({ pod, peer }: Slot): string {
  return `${schemeOf(peer?.inputs.tls.mode ?? 'Disabled')}://${pod?.address}:${ports.client}`;
}

function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
