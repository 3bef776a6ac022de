import { createHash } from 'node:crypto';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { fleetNews } from '../../reconcile/fleet/news.ts';
import { KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { type ClusterNews, writeEvent } from '../../reconcile/objects/event.ts';
import type { PassContext } from './pass-context.ts';

/** Two invocations that report the same within this time write one event. */
const sameMs = 60_000;

/** Writes an event for each thing that is new in a fleet's status. Never throws for what the API server says. */
export async function tellFleet(
  { kube, log, signal }: Pick<PassContext, 'kube' | 'log' | 'signal'>,
  fleet: EtcdFleet,
  status: EtcdFleetStatus,
): Promise<void> {
  const at = kube.now() ?? new Date();
  for (const news of fleetNews(fleet.status, status)) {
    try {
      await writeEvent(kube, fleet, news, { id: idOf(news, at), at, signal, about: resources.fleets });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.reason !== 'AlreadyExists') log({ fleet: keyOf(fleet), problem: error.message }, 'no event says so');
    }
  }
}

function idOf({ reason, note }: ClusterNews, at: Date): string {
  const text = JSON.stringify([reason, note, Math.floor(at.getTime() / sameMs)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
