import { isDeepStrictEqual } from 'node:util';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { isRecord } from '../../manifests/json.ts';
import { isReason, type Kube, resources } from '../interfaces/kube.ts';
import { conditionOf } from '../objects/conditions.ts';

/** How often it looks again after a conflict: each time another invocation has written meanwhile. */
const maxLooks = 10;

/**
 * Writes the report, fenced by its fleet's resourceVersion; `false`: it did not. After a conflict it looks again: what
 * is news is written at the same attempt; else another invocation reports, and of this one only what the forge was told
 * stays. @throws {KubeError} other than a conflict
 */
export async function writeFleetStatus(
  kube: Kube,
  fleet: EtcdFleet,
  status: EtcdFleetStatus,
  signal: AbortSignal,
): Promise<boolean> {
  if (await tryWrite(kube, { ...fleet, status }, signal)) return true;

  const { namespace, name, uid } = fleet.metadata;
  for (let look = 0; look < maxLooks; look++) {
    const now = await kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
    if (now?.metadata.uid !== uid || !now) return false;
    const theirs = now.status ?? { observedGeneration: -1 };
    const isSameAttempt = isSame(fleet, now, 'attempted') && isSame(fleet, now, 'applied');
    const { commitStatuses: _, ...more } = isSameAttempt ? merged(status, fleet.status, theirs) : theirs;
    const next = { ...more, ...withSent({ ours: status, base: fleet.status, theirs }, isSameAttempt) };
    if (!isSameAttempt && isDeepStrictEqual(next, now.status)) return false;
    if (await tryWrite(kube, { ...now, status: next }, signal)) return isSameAttempt;
  }
  return false;
}

/** Of another revision another invocation reported meanwhile, and may know more about what was applied. */
function isSame(one: EtcdFleet, other: EtcdFleet, which: 'attempted' | 'applied'): boolean {
  return one.status?.revision?.[which] === other.status?.revision?.[which];
}

/** Fields that other passes write; a report copies all but the first two unless it answered or sent something. */
const copied = [
  'checks',
  'requestsFrom',
  'requestsSeen',
  'forgeRetryAfter',
  'lastHandledReconcileAt',
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

/**
 * What the forge has been told by all, by context. Another invocation wrote meanwhile, and may have told it of the same
 * commit: in which order that arrived is not known, and the forge would show the wrong one for ever, unless the next
 * pass tells it again. Of two commits that of the newer attempt is kept, whose other statuses stay the forge's.
 */
function withSent(
  {
    ours,
    base,
    theirs,
  }: Readonly<Record<'ours' | 'theirs', EtcdFleetStatus>> & { readonly base?: EtcdFleetStatus | undefined },
  isSameAttempt: boolean,
): Pick<EtcdFleetStatus, 'commitStatuses'> {
  const [mine, before, others] = [sentOf(ours), sentOf(base), sentOf(theirs)];
  const sent = [...new Set([...others.keys(), ...mine.keys()])].flatMap((context) => {
    const [own, last, other] = [mine.get(context), before.get(context), others.get(context)];
    if (isDeepStrictEqual(own, last) || isDeepStrictEqual(own, other)) return other ?? [];
    if (!own) return isDeepStrictEqual(other, last) ? [] : (other ?? []);
    const kept = isSameAttempt ? own : (other ?? own);
    return other && other.sha !== own.sha ? kept : { ...kept, uncertain: true };
  });
  return sent.length > 0 ? { commitStatuses: sent } : {};
}

/** By what forges compare: without regard to case. */
function sentOf(status: EtcdFleetStatus | undefined) {
  return new Map((status?.commitStatuses ?? []).map((sent) => [sent.context.toLowerCase(), sent]));
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
