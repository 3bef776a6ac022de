import {
  compareVersions,
  highestOf,
  isVersion,
  minorOf,
  parseVersion,
  type Version,
} from '../../manifests/api/version.ts';
import { inputsHash } from '../../manifests/build/inputs-hash.ts';
import { recordOf } from './life.ts';
import type { Observation, Slot } from './observation.ts';

/** What members ran, told from all that remembers it: it says how far back they may go (I6). */
export type Looked = Pick<Observation, 'cluster' | 'slots' | 'clusterVersion'> &
  Partial<Pick<Observation, 'membership'>>;

/**
 * The lowest minor that members may go back to: that of one who never ran a higher one. etcd moves its cluster version when all
 * members run the next minor at once, so it has not, and the others' data can still be read (seen on 3.5 and 3.6, with two of
 * three members upgraded).
 */
export function lowestMinorFor({ cluster, slots, membership, clusterVersion }: Looked): number {
  const listed = membership?.kind === 'known' ? new Set(membership.members.map(({ id }) => id)) : undefined;
  const witnesses = slots.filter((slot) => {
    const record = recordOf(slot);
    return record?.state === 'sealed' && (listed?.has(record.memberId ?? '') ?? true);
  });
  const ran = witnesses.flatMap((slot) => highestOf(testimonyOf(slot)) ?? []);
  const lowest = ran.toSorted(compareVersions)[0] ?? highestOf(slots.flatMap(mayHaveRun));
  // What is remembered in status only ever refuses.
  const moved = [clusterVersion, cluster.status?.clusterVersion].filter(isVersion).map(parseVersion);
  return Math.max(...[...(lowest ? [lowest] : []), ...moved].map(minorOf));
}

/** Who runs a minor now has not let the cluster version move beyond it, whatever its template says by now. */
function testimonyOf(slot: Slot): readonly Version[] {
  const record = recordOf(slot);
  if (slot.endpoint.kind === 'unknown' || !record) return mayHaveRun(slot);
  return [slot.endpoint.status.version, record.version].filter(isVersion).map(parseVersion);
}

/** Whether this version may be started where a higher minor ran. */
export function mayGoBackTo(version: string, looked: Looked): boolean {
  return minorOf(parseVersion(version)) >= lowestMinorFor(looked);
}

/** What this member's data may have been opened by. What certainly never ran is not among them. */
export function mayHaveRun(slot: Slot): readonly Version[] {
  const { peer, pod, endpoint } = slot;
  const record = recordOf(slot);
  if (record?.state === 'released' || record?.state === 'superseded') return [];
  const said: string[] = [];
  if (record && record.state !== 'bootstrapping') said.push(record.version);
  if (record?.nextVersion !== undefined && nextMayHaveRun(slot, record.nextVersion)) said.push(record.nextVersion);
  if (endpoint.kind === 'known') said.push(endpoint.status.version);
  if (pod?.container.everStarted && peer) said.push(pod.version ?? peer.inputs.version);
  // A re-created resource has no pods to ask: what was recorded is what may have run.
  if (record && !peer) said.push(record.version);
  return said.filter(isVersion).map(parseVersion);
}

/** Not when its template never said so, or says so no more; nor when the pod that was made for it never got to start. */
function nextMayHaveRun({ peer, statefulSet, pod }: Slot, next: string): boolean {
  if (!peer?.current) return true;
  if (pod?.version === next) return pod.container.everStarted;
  const isBehind = statefulSet !== undefined && statefulSet.inputsHash !== inputsHash(peer.inputs);
  return peer.inputs.version === next || isBehind;
}
