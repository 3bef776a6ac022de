import { hasQuorum, leaderOf, type Process, quorumIn, runningOf, type State } from './state.ts';

/**
 * One heartbeat of every etcd cluster: members publish themselves, removed ones end, a client writes, everybody who is heard
 * catches up.
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
    for (const { data, pod } of heard) {
      const known = formation.members.some(({ id }) => id === data.memberId);
      if (known) formation.published.set(data.memberId, pod.split('/')[1]?.replace(/-0$/, '') ?? '');
    }
    formation.acknowledged += 1;
    for (const { data } of heard) data.applied = formation.acknowledged;
  }
}

function endProcess(state: State, process: Process): void {
  const [uid] = [...state.processes].find(([, candidate]) => candidate === process) ?? [];
  if (uid === undefined) return;
  state.processes.delete(uid);
  state.changes += 1;
}
