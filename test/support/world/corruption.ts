import { EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { KvHash } from '../../../reconcile/interfaces/etcd-admin.ts';
import type { Data } from './members.ts';
import { leaderOf, runningOf, votersOf } from './quorum.ts';
import { revisionOf } from './revisions.ts';
import type { Formation, Process, State } from './state.ts';

/** Members that hold other data than they acknowledged: what etcd notices of it, and what must not be made of it. */

export function hashIn(state: State, { data }: Process, revision: bigint): KvHash {
  if (BigInt(revisionOf(state, data)) < revision)
    throw new EtcdError('future revision', 'refused', undefined, undefined, 'FutureRevision');
  const { clusterId, memberId, spoiled = 0 } = data;
  return { clusterId, memberId, hash: 4711 + spoiled, hashRevision: revision, compactRevision: -1n };
}

/** What a status says of it. */
export function complaintsIn(formation: Formation | undefined): readonly string[] {
  return [...(formation?.corrupt ?? [])].map((id) => (id === '0' ? 'alarm:CORRUPT ' : `memberID:${id} alarm:CORRUPT `));
}

export function disarmCorruptIn(state: State, clusterId: string, formation: Formation, memberId: string): void {
  const voters = votersOf(state, clusterId);
  const held = new Set(dataOf(state, clusterId, voters).map(({ spoiled = 0 }) => spoiled));
  if (held.size > 1) state.violations.push('writes are let in while voters hold different data');
  formation.corrupt?.delete(memberId);
}

/** I9: who holds what was acknowledged is not given up while somebody who does not has a vote. */
export function assertMayRemove(state: State, clusterId: string, memberId: string): void {
  const all = dataOf(state, clusterId, votersOf(state, clusterId));
  const leaver = all.find((data) => data.memberId === memberId);
  const spoiled = all.filter((data) => data.spoiled && data.memberId !== memberId);
  if (leaver && !leaver.spoiled && spoiled.length > 0)
    state.violations.push(
      `I9: ${memberId} is removed, which is sound, and ${spoiled[0]?.memberId} stays, which is not`,
    );
}

/** A member that starts with data compares them with those of running members. */
export function differsFromOthers(state: State, data: Data): boolean {
  const others = runningOf(state, data.clusterId).filter((process) => process.data.memberId !== data.memberId);
  return others.some((process) => process.data.applied > 0 && (process.data.spoiled ?? 0) !== (data.spoiled ?? 0));
}

/** A member that joins is given what the leader has. */
export function inherit(state: State, data: Data): void {
  const leader = leaderOf(state, data.clusterId);
  if (data.applied === 0 && leader?.data.spoiled !== undefined) data.spoiled = leader.data.spoiled;
}

/** On disks, whether or not they run. */
function dataOf(state: State, clusterId: string, ids: ReadonlySet<string>): readonly Data[] {
  return [...state.disks.values()].filter((data) => data.clusterId === clusterId && ids.has(data.memberId));
}
