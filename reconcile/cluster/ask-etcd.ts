import { ports, schemeOf } from '../../manifests/build/names.ts';
import type { EndpointVersion, Etcd } from '../etcd.ts';
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
  const reachable = slots.filter(({ pod }) => pod?.address !== undefined && pod.container.state === 'running');
  if (reachable.length === 0) {
    return { membership: { kind: 'unknown', cause: 'no member runs' }, slots };
  }
  const etcd = await connect();
  try {
    const [membership, asked] = await Promise.all([
      askMembers(etcd, reachable.map(endpointOf), signal),
      Promise.all(
        slots.map(async (slot) =>
          reachable.includes(slot) ? { ...slot, endpoint: await askEndpoint(etcd, slot, signal) } : slot,
        ),
      ),
    ]);
    return { membership, slots: asked };
  } finally {
    etcd.close();
  }
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
  const endpoint = endpointOf(slot);
  try {
    const [status, version] = await Promise.all([
      etcd.status(endpoint, { signal }),
      askVersion(etcd, endpoint, signal),
    ]);
    return { kind: 'known', status, clusterVersion: version?.cluster };
  } catch (error) {
    return { kind: 'unknown', cause: causeOf(error) };
  }
}

/** Only for display so far: a member that answers Status but not `/version` is not down for it. */
async function askVersion(etcd: Etcd, endpoint: string, signal: AbortSignal): Promise<EndpointVersion | undefined> {
  try {
    return await etcd.version(endpoint, { signal });
  } catch {
    return undefined;
  }
}

/** By pod address: DNS may still hold, or not yet have, the name of a pod that was just replaced. */
export function endpointOf({ pod, peer }: Slot): string {
  return `${schemeOf(peer?.inputs.tls.mode ?? 'Disabled')}://${pod?.address}:${ports.client}`;
}

function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
