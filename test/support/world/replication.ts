import { inherit } from './corruption.ts';
import { minorOf } from './members.ts';
import { hasQuorum, leaderOf, quorumIn, runningOf } from './quorum.ts';
import { tellClients } from './revisions.ts';
import { takesWrites } from './space.ts';
import type { Formation, Process, State } from './state.ts';

/**
 * One heartbeat of every etcd cluster: members publish themselves, removed ones end, a client writes, everybody who is
 * heard catches up.
 */
export function replicate(state: State): void {
  for (const [clusterId, formation] of state.formations) {
    if (!hasQuorum(state, clusterId)) continue;
    formation.formed = true;
    for (const process of runningOf(state, clusterId)) {
      if (formation.removed.has(process.data.memberId)) endProcess(state, process);
    }
    const leader = leaderOf(state, clusterId);
    if (!leader) continue;
    formation.leader = leader.data.memberId;
    if (leader.data.applied < formation.acknowledged) {
      state.violations.push(
        `lost: ${formation.acknowledged - leader.data.applied} acknowledged writes of ${clusterId}`,
      );
      formation.acknowledged = leader.data.applied;
    }
    const heard = quorumIn(state, clusterId);
    for (const process of heard) {
      const { data, pod } = process;
      process.served = true;
      const known = formation.members.some(({ id }) => id === data.memberId);
      if (known) formation.published.set(data.memberId, pod.split('/')[1]?.replace(/-0$/, '') ?? '');
    }
    commit(state, clusterId, formation, takesWrites(formation) ? 1 : 0);
    tellClients(state, formation, leader);
    moveVersion(state, clusterId, formation);
  }
}

/** So many more entries in the log of everybody who is heard. */
export function commit(state: State, clusterId: string, formation: Formation, entries: number): void {
  const heard = quorumIn(state, clusterId);
  const leader = leaderOf(state, clusterId);
  formation.acknowledged += entries;
  if (runningOf(state, clusterId).some(({ version }) => minorOf(version) < 6))
    formation.ancient = formation.acknowledged;
  for (const { data, snapshotCount } of heard) {
    // A member that lacks entries which the leader compacted is sent its snapshot.
    if (leader && data.applied < leader.data.snapshot) data.snapshot = leader.data.snapshot;
    inherit(state, data);
    data.applied = formation.acknowledged;
    if (data.applied - data.snapshot > snapshotCount) data.snapshot = data.applied;
  }
}

/** Heartbeats that the leader takes to see that it may. */
const delay = 3;

function moveVersion(state: State, clusterId: string, formation: Formation): void {
  const heard = quorumIn(state, clusterId);
  const lowest = Math.min(...heard.map(({ version }) => minorOf(version)));
  if (formation.version === undefined) {
    formation.version = `3.${lowest}`;
    return;
  }
  const all = formation.members.every(({ id }) => heard.some(({ data }) => data.memberId === id));
  if (!all || lowest <= minorOf(formation.version)) {
    formation.arriving = 0;
    return;
  }
  formation.arriving += 1;
  state.changes += 1;
  if (formation.arriving > delay) formation.version = `3.${lowest}`;
}

function endProcess(state: State, process: Process): void {
  const [uid] = [...state.processes].find(([, candidate]) => candidate === process) ?? [];
  if (uid === undefined) return;
  state.processes.delete(uid);
  state.changes += 1;
}
