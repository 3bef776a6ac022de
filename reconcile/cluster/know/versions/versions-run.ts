import {
  compareVersions,
  highestOf,
  isMinorBelow,
  isVersion,
  minorOf,
  parseVersion,
  type Version,
} from '../../../../manifests/api/version.ts';
import { inputsHash } from '../../../../manifests/render/inputs-hash.ts';
import { isBeforeFirstStart, type VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { recordOf } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';

/** What members ran, from all that records it: it says how far back they may go (I6). */
export type Looked = Pick<Observation, 'cluster' | 'slots' | 'clusterVersion'> &
  Partial<Pick<Observation, 'membership'>>;

/**
 * The lowest minor that members may go back to: that of a member that never ran a higher one. etcd raises its cluster
 * version when all members run the next minor at once, so it has not, and the others' data can still be read (seen on
 * 3.5 and 3.6, with two of three members upgraded).
 */
export function lowestMinorFor(looked: Looked): number {
  return lowestOf(looked, testimonyOf);
}

function lowestOf(
  { cluster, slots, membership, clusterVersion }: Looked,
  saidBy: (slot: Slot) => readonly Version[],
): number {
  const listed = membership?.kind === 'known' ? new Set(membership.members.map(({ id }) => id)) : undefined;
  const witnesses = slots.filter((slot) => {
    const record = recordOf(slot);
    return record?.state === 'sealed' && (listed?.has(record.memberId ?? '') ?? true);
  });
  const ran = witnesses.flatMap((slot) => highestOf(saidBy(slot)) ?? []);
  const lowest = ran.toSorted(compareVersions)[0] ?? highestOf(slots.flatMap(mayHaveRun));
  // Status only ever adds a refusal.
  const moved = [clusterVersion, cluster.status?.clusterVersion].filter(isVersion).map(parseVersion);
  return Math.max(...[...(lowest ? [lowest] : []), ...moved].map(minorOf));
}

/** A member that runs a minor now has kept the cluster version from rising beyond it, whatever its template says. */
function testimonyOf(slot: Slot): readonly Version[] {
  const record = recordOf(slot);
  if (slot.endpoint.kind === 'unknown' || !record) return mayHaveRun(slot);
  return [slot.endpoint.status.version, record.version].filter(isVersion).map(parseVersion);
}

/**
 * Whether this version may start where a higher minor ran: some member has never run that, and cannot start on it while
 * this one goes back. Else all members might run it for a moment, the cluster version would rise, and the member that
 * went back would not start any more.
 */
export function mayGoBackTo(version: string, looked: Looked): boolean {
  const lowest = lowestOf(looked, (slot) => [...testimonyOf(slot), ...mayComeUpOn(slot)]);
  return minorOf(parseVersion(version)) >= lowest;
}

/**
 * What it may start at any moment, beyond control: its pod's version; of a pod that ends, or has ended, the next one's.
 */
function mayComeUpOn(slot: Slot): readonly Version[] {
  const { peer, pod } = slot;
  const told = peer?.inputs.version;
  if (pod && !pod.leaving) {
    const version = pod.version ?? told;
    return isVersion(version) && mayOpenIts(slot, version) ? [parseVersion(version)] : [];
  }
  const next = isTemplateBehind(slot) ? recordOf(slot)?.nextVersion : undefined;
  return [told, next].filter(isVersion).map(parseVersion);
}

/** Whether its pod ran a higher minor than that. */
export function hasRunHigher(slot: Slot, version: string): boolean {
  const { pod } = slot;
  if (!pod?.container.everStarted || !isVersion(pod.version) || !mayOpenIts(slot, pod.version)) return false;
  return isMinorBelow(version, pod.version);
}

/** Whether this version may have opened its data, or may yet; one that answers has. */
function mayOpenIts(slot: Slot, version: string): boolean {
  const record = recordOf(slot);
  return slot.endpoint.kind === 'known' || record === undefined || !leavesOutMinor(version, record);
}

/**
 * Whether another client gave it a version that its data do not follow: etcd ends, and the minor between still opens
 * them (seen with 3.7.3 on data of 3.5.35).
 */
export function leavesOutMinor(version: string, record: VolumeRecord): boolean {
  return !isBeforeFirstStart(record) && minorOf(parseVersion(version)) > minorOf(parseVersion(record.version)) + 1;
}

/** Versions that may have opened this member's data. Versions that certainly never ran are not among them. */
export function mayHaveRun(slot: Slot): readonly Version[] {
  const { peer, pod, endpoint } = slot;
  const record = recordOf(slot);
  if (record?.state === 'released' || record?.state === 'superseded') return [];
  const said: string[] = [];
  if (record && (!isBeforeFirstStart(record) || isStartedForAnother(record, peer))) said.push(record.version);
  if (record?.nextVersion !== undefined && nextMayHaveRun(slot, record.nextVersion)) said.push(record.nextVersion);
  if (endpoint.kind === 'known') said.push(endpoint.status.version);
  const ran = pod?.container.everStarted && peer ? (pod.version ?? peer.inputs.version) : undefined;
  if (isVersion(ran) && mayOpenIts(slot, ran)) said.push(ran);
  // A recreated resource has no pods to ask: the recorded version may have run.
  if (record && record.state !== 'restoring' && !peer) said.push(record.version);
  return said.filter(isVersion).map(parseVersion);
}

/** Its member may have started for a peer that is gone: no pod of this one can say that it did not. */
function isStartedForAnother({ mayHaveStarted }: VolumeRecord, peer: Slot['peer']): boolean {
  return mayHaveStarted !== undefined && mayHaveStarted !== peer?.uid;
}

/** Not when its template never named it, or no longer does; nor when the pod that was made for it never started. */
function nextMayHaveRun(slot: Slot, next: string): boolean {
  const { peer, pod } = slot;
  if (!peer?.current) return true;
  if (pod?.version === next) return pod.container.everStarted;
  return peer.inputs.version === next || isTemplateBehind(slot);
}

/** Its peer and its StatefulSet differ: what the template says is unknown here. */
export function isTemplateBehind({ peer, statefulSet }: Slot): boolean {
  return peer !== undefined && statefulSet !== undefined && statefulSet.inputsHash !== inputsHash(peer.inputs);
}
