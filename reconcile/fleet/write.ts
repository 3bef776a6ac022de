import { isDeepStrictEqual } from 'node:util';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { isRecord } from '../../manifests/json.ts';
import { isReason, type Kube, resources } from '../interfaces/kube.ts';
import { conditionOf } from '../objects/conditions.ts';

/**
 * Writes the report, fenced by its fleet's resourceVersion; `false`: it did not. After a conflict it tries once more if
 * the fleet is at the same attempt; else another invocation reports. @throws {KubeError} other than a conflict
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
  // Another invocation reported on the same revision meanwhile, and may know more about what was applied.
  if (now.status?.revision?.applied !== fleet.status?.revision?.applied) return false;
  return tryWrite(kube, { ...now, status: merged(status, fleet.status, now.status) }, signal);
}

/** Fields that other passes write; a report copies all but the first two unless it answered or sent something. */
const copied = [
  'checks',
  'requestsFrom',
  'requestsSeen',
  'forgeRetryAfter',
  'lastHandledReconcileAt',
  'commitStatuses',
  'inventory',
  'verification',
] as const;

/** A report without what it only copied from before: there, newer values of another invocation stay. */
function merged(ours: EtcdFleetStatus, base?: EtcdFleetStatus, theirs?: EtcdFleetStatus): EtcdFleetStatus {
  const stale = copied.filter((name) => isDeepStrictEqual(ours[name], base?.[name]));
  const isKept = (name: string) => !(stale as readonly string[]).includes(name);
  const news = Object.fromEntries(Object.entries(ours).filter(([name]) => isKept(name))) as typeof ours;
  const lately = Object.fromEntries(
    stale.flatMap((name) => (theirs?.[name] === undefined ? [] : [[name, theirs[name]]])),
  );
  return { ...news, ...lately, conditions: withVerdict(ours, base, theirs) };
}

/** `RequestsChecked` is the verdict of checks; a report only takes it away once checks are not wanted. */
function withVerdict(
  ours: EtcdFleetStatus,
  base?: EtcdFleetStatus,
  theirs?: EtcdFleetStatus,
): NonNullable<EtcdFleetStatus['conditions']> {
  const type = 'RequestsChecked';
  const isDropped = conditionOf(base, type) && !conditionOf(ours, type);
  const verdict = isDropped ? undefined : conditionOf(theirs, type);
  return [...(ours.conditions ?? []).filter((one) => one.type !== type), ...(verdict ? [verdict] : [])];
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

/** Whether a write would change anything of interest; the time of the last run alone does not count. */
export function differs(before: EtcdFleetStatus | undefined, after: EtcdFleetStatus): boolean {
  return stable(before) !== stable(after);
}

function stable(status: EtcdFleetStatus | undefined): string {
  const { lastRun: _, ...rest } = status ?? {};
  return JSON.stringify(rest, (_key, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}
