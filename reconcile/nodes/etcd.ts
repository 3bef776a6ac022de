import { quorumOf } from '../cluster/know/membership/quorum.ts';
import type { ClusterSeen, MemberSeen } from './observation.ts';
import type { NodeReason } from './reasons.ts';

/** What etcd has to say about a node that is to go away for a while. Pure. */

export interface Objection {
  readonly reason: NodeReason;
  readonly message: string;
}

/** What a policy says of one cluster. */
export interface Allowed {
  /** It may lose its quorum. */
  readonly downtime: boolean;
  /** It has kept the node waiting for too long: only an invocation that acts on it now keeps it on. */
  readonly overruled: boolean;
}

/** Why this cluster can't spare a node now; `undefined`: it can. */
export function objectionOf(
  cluster: ClusterSeen,
  node: string,
  { downtime, overruled }: Allowed,
): Objection | undefined {
  const { key, stopped } = cluster;
  if (stopped !== undefined && !overruled)
    return { reason: 'ClusterStopped', message: `EtcdCluster ${key} ${stopped}: no member of it is moved meanwhile` };
  const busy = busyNow(cluster, node, overruled);
  if (busy) return busy;
  if (downtime) return undefined;
  return twoThere(cluster, node) ?? withoutNode(cluster, node);
}

/** Also where the others are a quorum: the cluster would be left without a member to spare. */
export function twoThere(cluster: ClusterSeen, node: string): Objection | undefined {
  const { key } = cluster;
  const here = membersOn(cluster, node);
  if (here.length < 2) return undefined;
  const names = here.map(({ name }) => name).join(' and ');
  const cure = `move one of them to another node, or name ${key} in spec.allowDowntimeOf`;
  return { reason: 'TwoMembersThere', message: `${names} of EtcdCluster ${key} are both on ${node}: ${cure}` };
}

/** Whether a cluster is in the middle of a step, or about to take one, that this node must not disturb. */
export function busyNow(cluster: ClusterSeen, node: string, overruled = false): Objection | undefined {
  const { key, busy } = cluster;
  if (!busy || (overruled && busy.kind !== 'held')) return undefined;
  const here = membersOn(cluster, node);
  // What a cluster would do or waits for because its member is away is no reason to keep the node from its reboot.
  const isAway = here.length === 0 && busy.kind !== 'held';
  // An ailing member on this very node keeps its cluster waiting: a reboot may be what cures it.
  const isAiling = busy.kind === 'wait' && here.some(({ serves }) => !serves);
  if (isAway || isAiling) return undefined;
  return { reason: 'ClusterBusy', message: `EtcdCluster ${key} is in the middle of something: ${busy.why}` };
}

/** Whether the others of a cluster are a quorum, and all of them are healthy and in sync. */
export function withoutNode(cluster: ClusterSeen, node: string): Objection | undefined {
  const { key, clusterId, voters, learners, members, mayLoseQuorum } = cluster;
  if (clusterId === undefined) {
    const cure = 'its conditions say what to do; or name it in spec.allowDowntimeOf';
    return { reason: 'ClusterWithoutQuorum', message: `no quorum of EtcdCluster ${key} answers: ${cure}` };
  }
  const others = members.filter((member) => member.node !== node && member.voter);
  const down = others.find(({ serves }) => !serves);
  if (down)
    return {
      reason: 'MemberDown',
      message: `${down.name} of EtcdCluster ${key}: ${down.ailment ?? 'it does not serve'}`,
    };
  const here = membersOn(cluster, node).filter(({ voter }) => voter).length;
  if (others.length + here < voters)
    return { reason: 'MemberDown', message: `etcd lists a voter of EtcdCluster ${key} that runs nowhere` };
  if (learners > 0) return { reason: 'ClusterBusy', message: `a member of EtcdCluster ${key} is joining` };
  if (others.length < quorumOf(voters) && !mayLoseQuorum) {
    const needs = voters === 1 ? 'has one member' : `needs ${quorumOf(voters)} of its ${voters} members`;
    const cure = 'set spec.replicas to 3, or, if it may be unavailable meanwhile, name it in spec.allowDowntimeOf';
    return { reason: 'QuorumNeedsNode', message: `EtcdCluster ${key} ${needs}: ${cure}` };
  }
  return undefined;
}

/** Whether a node may go down that has no member any more: in each cluster with one there no other member is down. */
export function whileAway(cluster: ClusterSeen, node: string): Objection | undefined {
  const { key, voters, members, mayLoseQuorum } = cluster;
  const serving = members.filter((member) => member.voter && member.serves).length;
  if (serving < voters - 1) return { reason: 'MemberDown', message: `another member of EtcdCluster ${key} is down` };
  // Without a quorum no voter is known: then none serves here, and the quorum of no voters is one.
  return serving < quorumOf(voters) && !mayLoseQuorum ? withoutNode(cluster, node) : undefined;
}

/** Why a cluster is not as whole as it was before the reboot. */
export function notWhole(cluster: ClusterSeen): string | undefined {
  const { key, clusterId, members, voters } = cluster;
  if (clusterId === undefined) return `no quorum of EtcdCluster ${key} answers`;
  const down = members.find(({ voter, serves }) => voter && !serves);
  if (down) return `${down.name} of EtcdCluster ${key}: ${down.ailment ?? 'it does not serve'}`;
  const seen = members.filter(({ voter }) => voter).length;
  return seen < voters ? `etcd lists a voter of EtcdCluster ${key} that runs nowhere` : undefined;
}

export interface LeaderMove {
  readonly cluster: string;
  readonly clusterId: string;
  readonly from: string;
  readonly name: string;
  readonly memberId: string;
}

/**
 * Leaders on a node, each with its successor elsewhere: the healthy voter with the most of raft's log.
 * @param leaving nodes that are under way, this one among them: a leader there would have to move again
 */
export function leadersToMove(
  clusters: readonly ClusterSeen[],
  node: string,
  leaving: ReadonlySet<string>,
): readonly LeaderMove[] {
  return clusters.flatMap(({ key, clusterId, members }) => {
    const leader = members.find((member) => member.leads && member.node === node);
    if (!leader || clusterId === undefined) return [];
    const able = members.filter(
      (one) => one.voter && one.serves && one.memberId !== undefined && !leaving.has(one.node ?? ''),
    );
    const [best] = able.toSorted((a, b) => Number(b.log - a.log));
    if (best?.memberId === undefined) return [];
    return [{ cluster: key, clusterId, from: leader.name, name: best.name, memberId: best.memberId }];
  });
}

export function membersOn({ members }: ClusterSeen, node: string): readonly MemberSeen[] {
  return members.filter((member) => member.node === node);
}
