import type { EtcdFleet, EtcdFleetStatus } from '../../manifests/api/etcd-fleet.ts';
import { isReason, type Kube, resources } from '../kube.ts';

/**
 * Writes the report, fenced by the resourceVersion of what it is about. After a conflict it is written once more, if the
 * fleet is still at the same attempt; if not, whoever took over reports.
 *
 * @returns whether it was written
 * @throws {KubeError} other than a conflict
 */
export async function writeFleetStatus(
  kube: Kube,
  fleet: EtcdFleet,
  status: EtcdFleetStatus,
  signal: AbortSignal,
): Promise<boolean> {
  if (await tryWrite(kube, { ...fleet, status }, signal)) return true;

  const { namespace, name, uid } = fleet.metadata;
  const now = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
  if (now?.metadata.uid !== uid || !now) return false;
  if (now.status?.revision?.attempted !== fleet.status?.revision?.attempted) return false;
  // Somebody reported on the same revision meanwhile, and may know more than we do about what was applied.
  if (now.status?.revision?.applied !== fleet.status?.revision?.applied) return false;
  return tryWrite(kube, { ...now, status }, signal);
}

async function tryWrite(kube: Kube, fleet: EtcdFleet, signal: AbortSignal): Promise<boolean> {
  try {
    await kube.updateStatus(resources.fleets, fleet, { signal });
    return true;
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return false;
    throw error;
  }
}

/** Whether a write would change anything that somebody could want to know; the time of the last run alone does not count. */
export function differs(before: EtcdFleetStatus | undefined, after: EtcdFleetStatus): boolean {
  return stable(before) !== stable(after);
}

function stable(status: EtcdFleetStatus | undefined): string {
  const { lastRun: _, ...rest } = status ?? {};
  return JSON.stringify(rest, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
