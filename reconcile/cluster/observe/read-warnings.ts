import { abortAfter } from '../../../manifests/abort-after.ts';
import type { Event } from '../../../manifests/kube-types.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { downFor, graceOf, notedSince } from '../know/health/grace.ts';
import { hasDeparted, isAsleep } from '../know/life.ts';
import type { Observation, Slot, Warning } from '../know/observation.ts';
import { isBeforeItsStart } from '../know/pods/blocked.ts';
import { warningsIn } from './warnings.ts';

/** For all of them together, in milliseconds: they only say more about what is known. */
const budget = 2000;
/** Of one object. Kubernetes merges repeated events into one: there are more only where a client writes at will. */
const most = 200;

type When = Pick<Observation, 'at' | 'cluster'>;

/** By the name of the member's slot. Without an entry: not asked, or unknown. */
export type Warnings = ReadonlyMap<string, readonly Warning[]>;

/**
 * Warnings about the objects of members that have not run for `podGracePeriod`, or have no pod. A cluster that is well,
 * or only slow, costs no request.
 */
export async function readWarnings(
  kube: Kube,
  slots: readonly Slot[],
  when: When,
  signal: AbortSignal,
): Promise<Warnings> {
  const inTime = abortAfter(budget, signal);
  const due = slots.filter((slot) => isRefusedSoon(slot, when) || downFor(slot, when) >= graceOf(when).pod);
  const found = await Promise.all(
    due.map(async (slot) => {
      const subjects = subjectsOf(slot);
      if (subjects.length === 0) return [];
      const told = await Promise.all(subjects.map((subject) => readOf(kube, subject, when, inTime)));
      const warnings = told.flatMap((one) => one ?? []);
      return told.includes(undefined) ? [] : [[slot.name, warnings] as const];
    }),
  );
  return new Map(found.flat());
}

/** Where no pod comes at all, the API server may refuse it: that is asked at the second look. */
function isRefusedSoon(slot: Slot, when: When): boolean {
  return slot.statefulSet?.current === true && !slot.pod && notedSince(slot, when) !== undefined;
}

/** The slots with what is reported of them. */
export function withWarnings(slots: readonly Slot[], warnings: Warnings): readonly Slot[] {
  if (warnings.size === 0) return slots;
  return slots.map((slot) => {
    const own = warnings.get(slot.name);
    return own ? { ...slot, warnings: own } : slot;
  });
}

/** What may have been reported of: whatever ought to bring its container to run, and does not. */
function subjectsOf(slot: Slot): readonly Pick<Warning, 'object' | 'uid'>[] {
  const { peer, volume, statefulSet, pod } = slot;
  if (!peer?.current || hasDeparted(slot) || isAsleep(slot)) return [];
  return [
    ...(statefulSet?.current && !pod ? [{ object: 'statefulSet', uid: statefulSet.uid } as const] : []),
    ...(isBeforeItsStart(slot) && pod ? [{ object: 'pod', uid: pod.uid } as const] : []),
    ...(volume && !volume.bound && pod ? [{ object: 'volume', uid: volume.uid } as const] : []),
  ];
}

/** `undefined`: not known, as where it may not be read, or there is more of it than is read. */
async function readOf(
  kube: Kube,
  subject: Pick<Warning, 'object' | 'uid'>,
  { at, cluster }: When,
  signal: AbortSignal,
): Promise<readonly Warning[] | undefined> {
  const { namespace } = cluster.metadata;
  const fieldSelector = `regarding.uid=${subject.uid}`;
  try {
    const { items } = await kube.list<Event>(resources.events, { namespace, fieldSelector, limit: most, signal });
    return items.length < most ? warningsIn(items, subject, at) : undefined;
  } catch (error) {
    // Forbidden by a role that is older than this release, or no answer in time: what else there is to do goes on.
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
