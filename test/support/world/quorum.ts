import type { Process, State } from './state.ts';
import { whyNotPeers } from './tls.ts';

/** Members of this etcd cluster that run. */
export function runningOf(state: State, clusterId: string): readonly Process[] {
  return [...state.processes.values()].filter(({ data }) => data.clusterId === clusterId);
}

/** Whether some member runs that a majority can talk to, itself counted. */
export function hasQuorum(state: State, clusterId: string): boolean {
  return (
    votersOf(state, clusterId).size > 0 && runningOf(state, clusterId).some((process) => isInQuorum(state, process))
  );
}

export function isInQuorum(state: State, process: Process): boolean {
  const { clusterId } = process.data;
  const voters = votersOf(state, clusterId);
  const heard = runningOf(state, clusterId).filter((other) => other === process || hear(state, process, other));
  return heard.filter(({ data }) => voters.has(data.memberId)).length > voters.size / 2;
}

/** IDs. */
export function votersOf(state: State, clusterId: string): ReadonlySet<string> {
  const members = state.formations.get(clusterId)?.members ?? [];
  return new Set(members.filter(({ isLearner }) => !isLearner).map(({ id }) => id));
}

/** Those of a majority that can talk to each other; the leader among them, if there is one. */
export function quorumIn(state: State, clusterId: string): readonly Process[] {
  return runningOf(state, clusterId).filter((process) => isInQuorum(state, process));
}

/** The one that leads, where a quorum stands behind it. */
export function leaderOf(state: State, clusterId: string): Process | undefined {
  const voters = votersOf(state, clusterId);
  const able = quorumIn(state, clusterId).filter(({ data }) => voters.has(data.memberId));
  const last = able.find(({ data }) => data.memberId === state.formations.get(clusterId)?.leader);
  // Nobody is elected who lacks what the majority has.
  return (
    last ?? able.toSorted((a, b) => b.data.applied - a.data.applied || (a.data.memberId < b.data.memberId ? -1 : 1))[0]
  );
}

/** A connection outlives the certificates that it was made with: etcd looks at them at a handshake, and never again. */
export function hear(state: State, a: Process, b: Process): boolean {
  const connection = a.address < b.address ? `${a.address},${b.address}` : `${b.address},${a.address}`;
  if (state.connections.has(connection)) return true;
  if (whyNotPeers(state, a, b) !== undefined) return false;
  state.connections.add(connection);
  return true;
}
