import { EtcdError, type Refusal } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin, EtcdChangeOptions } from '../../../reconcile/interfaces/etcd-admin.ts';
import { assertOthersLeaveAsApproved } from './adoption-invariants.ts';
import { assertMayRemove, disarmCorruptIn, hashIn } from './corruption.ts';
import { idOf } from './members.ts';
import { isInQuorum, leaderOf, runningOf, votersOf } from './quorum.ts';
import { commit } from './replication.ts';
import { compactIn, defragmentIn, disarmIn } from './space.ts';
import type { Formation, Process, State } from './state.ts';
import { usersOf } from './users.ts';

/** What changes an etcd cluster of the world, and what a real one refuses (etcd's api/v3rpc/rpctypes). */
export function changing(
  state: State,
  reachedBy: (endpoints: readonly string[]) => readonly Process[],
): Omit<EtcdAdmin, 'members' | 'lastMembers' | 'status' | 'version' | 'metrics' | 'counters' | 'close'> {
  return {
    addLearner: async (endpoints, peerUrl, { clusterId }) => {
      const { formation } = served(endpoints, clusterId);
      if (formation.members.some(({ url }) => url === peerUrl)) throw refused('PeerUrlExists');
      if (formation.members.some(({ isLearner }) => isLearner)) throw refused('TooManyLearners');
      // Patches before 3.5.30 and 3.6.11 want all of them.
      if (runningVoters(clusterId) < votersOf(state, clusterId).size) throw refused('UnhealthyCluster');
      formation.changes += 1;
      const id = idOf(`${peerUrl} ${clusterId} ${formation.changes}`);
      formation.members = [...formation.members, { id, url: peerUrl, isLearner: true }];
      state.changes += 1;
      return id;
    },
    promote: async (endpoints, memberId, { clusterId }) => {
      const { formation, leader } = served(endpoints, clusterId);
      const member = formation.members.find(({ id }) => id === memberId);
      if (!member) throw refused('MemberNotFound');
      if (!member.isLearner) throw refused('NotALearner');
      const process = runningOf(state, clusterId).find(({ data }) => data.memberId === memberId);
      if (!process || process.data.applied < leader.data.applied) throw refused('NotInSync');
      formation.members = formation.members.map((one) => (one === member ? { ...one, isLearner: false } : one));
      state.changes += 1;
    },
    remove: async (endpoints, memberId, { clusterId }) => {
      const { formation, leader } = served(endpoints, clusterId);
      const member = formation.members.find(({ id }) => id === memberId);
      if (!member) throw refused('MemberNotFound');
      if (leader.data.memberId === memberId) throw refused('IsLeader');
      const voters = [...votersOf(state, clusterId)].filter((id) => id !== memberId);
      const running = runningOf(state, clusterId).filter(({ data }) => voters.includes(data.memberId)).length;
      if (!member.isLearner && running <= voters.length / 2) throw refused('UnhealthyCluster');
      assertOthersLeaveAsApproved(state, clusterId, memberId);
      if (!member.isLearner) assertMayRemove(state, clusterId, memberId);
      formation.members = formation.members.filter((one) => one !== member);
      formation.removed.add(memberId);
      formation.published.delete(memberId);
      state.changes += 1;
    },
    moveLeader: async (endpoints, targetId, { clusterId }) => {
      const { formation, leader } = served(endpoints, clusterId);
      if (leader.data.memberId === targetId) return;
      if (!votersOf(state, clusterId).has(targetId)) throw refused('BadTransferee');
      const target = runningOf(state, clusterId).find(({ data }) => data.memberId === targetId);
      if (!target) throw new EtcdError('no answer', 'ambiguous');
      formation.leader = targetId;
      state.changes += 1;
    },
    hashKv: async (endpoint, { revision }) => {
      const [process] = reachedBy([endpoint]);
      if (!process) throw new EtcdError('no endpoint answers', 'down');
      return hashIn(state, process, revision);
    },
    defragment: async (endpoint, { memberId }) => {
      const [process] = reachedBy([endpoint]);
      if (!process) throw new EtcdError('no endpoint answers', 'down');
      if (process.data.memberId !== memberId) throw refused('AnotherMember');
      defragmentIn(state, process, leaderOf(state, process.data.clusterId)?.data.memberId);
      state.changes += 1;
    },
    alarms: async (endpoints, { clusterId }) => {
      const { formation } = served(endpoints, clusterId);
      commit(state, clusterId, formation, 1);
      return [
        ...[...(formation.space?.alarms ?? [])].map((memberId) => ({ memberId, alarm: 'NOSPACE' as const })),
        ...[...(formation.corrupt ?? [])].map((memberId) => ({ memberId, alarm: 'CORRUPT' as const })),
      ];
    },
    hasHistory: async (endpoints, _, { clusterId }) => (served(endpoints, clusterId).formation.space?.history ?? 0) > 0,
    disarm: async (endpoints, { memberId, alarm }, { clusterId }) => {
      const { formation } = served(endpoints, clusterId);
      if (alarm === 'NOSPACE') disarmIn(state, formation, memberId);
      else disarmCorruptIn(state, clusterId, formation, memberId);
      state.changes += 1;
    },
    compact: async (endpoints, _, { clusterId }) => {
      const { formation, leader } = served(endpoints, clusterId);
      compactIn(formation, leader);
      state.changes += 1;
    },
    ...usersOf(state, served, reachedBy),
  };

  /** A voter of that cluster that a quorum listens to. */
  function served(
    endpoints: readonly string[],
    clusterId: EtcdChangeOptions['clusterId'],
  ): { readonly formation: Formation; readonly leader: Process } {
    const reached = reachedBy(endpoints);
    if (reached.some(({ data }) => data.clusterId !== clusterId)) throw refused('ClusterIdMismatch');
    const serving = reached.find((process) => isInQuorum(state, process));
    const formation = state.formations.get(clusterId);
    const leader = leaderOf(state, clusterId);
    if (!serving || !formation || !leader) throw new EtcdError('no quorum', 'down');
    return { formation, leader };
  }

  function runningVoters(clusterId: string): number {
    const voters = votersOf(state, clusterId);
    return runningOf(state, clusterId).filter(({ data }) => voters.has(data.memberId)).length;
  }
}

function refused(reason: Refusal): EtcdError {
  return new EtcdError(`refused: ${reason}`, 'refused', undefined, undefined, reason);
}
