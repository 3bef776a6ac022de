import { createHash } from 'node:crypto';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetNews } from '../../reconcile/fleet/news.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { ClusterNews } from '../../reconcile/objects/event.ts';
import { type Teller, tellEvent } from './tell-event.ts';

/** Two invocations that report the same within this time write one event. */
const sameMs = 60_000;

/** Writes an event for each thing that is new in a fleet's status. Never throws for what the API server says. */
export async function tellFleet(context: Teller, fleet: EtcdFleet, status: EtcdFleetStatus): Promise<void> {
  const at = context.kube.now() ?? new Date();
  for (const news of fleetNews(fleet.status, status))
    await tellEvent(context, { about: fleet, kind: resources.fleets, news }, { id: idOf(news, at), at });
}

function idOf({ reason, note }: ClusterNews, at: Date): string {
  const text = JSON.stringify([reason, note, Math.floor(at.getTime() / sameMs)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
