import type { NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import {
  drainTimeoutOf,
  methodOf,
  type NodeAction,
  type NodeVerdict,
  rebootTimeoutOf,
  unmanagedAmong,
} from './decision.ts';
import { busyNow, leadersToMove, notWhole, whileAway, withoutNode } from './etcd.ts';
import type { Mark } from './marks.ts';
import type { NodeSeen, NodesObservation, PodSeen } from './observation.ts';
import { isStuck, type NodeReason } from './reasons.ts';

/** The way of one node that has begun. Each stage is told by what is there, so that any step can go on from it. */

/** While only time, or the node itself, brings news. */
const lookSeconds = 5;

interface Seen {
  readonly all: NodesObservation;
  readonly node: NodeSeen;
  readonly grant: NodeGrant;
}

/** @param node bears the UID of its grant */
export function goOn(all: NodesObservation, node: NodeSeen, grant: NodeGrant): NodeVerdict {
  const seen = { all, node, grant };
  const { marks, bootId, needed } = node;
  const { id } = grant;
  if (marks.done?.word === id) return doing(seen, 'RebootDone', 'is done', { kind: 'drop', id, completed: true });
  const isMarked = marks.granted?.word === id;
  if (!isMarked && marks.putOff && marks.putOff.at >= new Date(grant.at))
    return doing(seen, 'PutOff', `was put off (${marks.putOff.word})`, { kind: 'drop', id });
  // Another boot counts however it came about: a node that was marked has nothing more to lose.
  const isAnotherBoot = bootId !== '' && bootId !== grant.bootID;
  if (isMarked && isAnotherBoot && marks.returned?.word === bootId) return settle(seen, marks.returned);
  if (isMarked && isAnotherBoot) return comeBack(seen);
  if (isMarked && marks.inProgress?.word === grant.bootID) return awaitBoot(seen, marks.inProgress);
  if (needed === undefined) return putOff(seen, 'CalledOff', 'needs no reboot any more');
  if (!isMarked || !marks.cordoned || !node.unschedulable)
    return doing(seen, 'Cordoned', 'is cordoned', { kind: 'cordon', id });
  if (marks.now && isOrder(seen, marks.now)) return awaitBegin(seen, marks.now);
  return drain(seen, marks.cordoned);
}

/** What a stranger wrote there, or what named a Job that is gone, is no order. */
function isOrder({ all, node, grant }: Seen, { word }: Mark): boolean {
  if (methodOf(all.policy.spec) !== 'External') return word === node.job?.uid;
  return word === grant.id && grant.ordered !== undefined;
}

/** Others leave first: etcd runs with one member less only for as long as the reboot takes. */
function drain(seen: Seen, since: Mark): NodeVerdict {
  const { all, node, grant } = seen;
  const { pods } = node;
  if (pods === undefined) return saying(seen, 'Draining', 'could not be looked at');
  const leaving = pods.filter(({ kind }) => kind !== 'stays');
  const others = leaving.filter(({ kind }) => kind !== 'member');
  const objection = others.length > 0 ? unmanagedAmong(others, all.policy.spec) : objectionToDrain(seen, leaving);
  const late = outOf(seen, since, drainTimeoutOf(all.policy.spec));
  // Pods end on a node that answers, and on no other: a person must look at it.
  if (late && !node.ready && leaving.length > 0 && leaving.every((one) => one.leaving))
    return saying(seen, 'NodeNotBack', `is not Ready, and its pods do not end: ${stuckOn(leaving)}`);
  // Without an objection an empty node is a matter of moments: it is brought to its end.
  if (late && (objection || leaving.length > 0)) return putOff(seen, 'DrainTimedOut', stuckOn(leaving));
  if (objection) return saying(seen, objection.reason, objection.message);
  const blocking = others.find(({ blocks, leaving: isLeaving }) => blocks && !isLeaving);
  if (blocking) return saying(seen, 'BlockingPod', `waits for pod ${blocking.namespace}/${blocking.name} to end`);
  if (others.length > 0) return evict(seen, others, 'Draining');
  if (leaving.length === 0)
    return doing(seen, 'Rebooting', 'is empty, and is told to reboot', { kind: 'order', id: grant.id });
  const begun = [...(all.policy.status?.grants ?? []), ...(all.ofOthers ?? [])];
  const moves = leadersToMove(all.clusters, node.name, new Set([node.name, ...begun.map((one) => one.node)]));
  if (moves.length > 0) {
    const words = moves.map(({ cluster, name }) => `${cluster} to ${name}`).join(', ');
    return doing(seen, 'MovingLeaders', `hands leadership over: ${words}`, {
      kind: 'move-leaders',
      id: grant.id,
      moves,
    });
  }
  return evict(seen, leaving, 'EvictingMembers');
}

/** Before members leave, and again before the node goes down: the world may have moved since the grant. */
function objectionToDrain({ all, node, grant }: Seen, leaving: readonly PodSeen[]) {
  const named = new Set(all.policy.spec.allowDowntimeOf);
  const keys = new Set([...grant.clusters, ...leaving.flatMap(({ cluster }) => cluster ?? [])]);
  for (const key of keys) {
    const cluster = all.clusters.find((one) => one.key === key);
    if (!cluster) continue;
    const busy = busyNow(cluster, node.name);
    if (busy) return busy;
    if (named.has(key)) continue;
    if (cluster.stopped !== undefined && leaving.some((pod) => pod.cluster === key))
      return { reason: 'ClusterStopped', message: `EtcdCluster ${key} ${cluster.stopped}` } as const;
    const isThere = cluster.members.some((member) => member.node === node.name);
    const objection = isThere ? withoutNode(cluster, node.name) : whileAway(cluster, node.name);
    if (objection) return objection;
  }
  return undefined;
}

function evict(seen: Seen, pods: readonly PodSeen[], reason: NodeReason): NodeVerdict {
  const { all, node, grant } = seen;
  const named = new Set(all.policy.spec.allowDowntimeOf);
  const staying = pods.filter(({ leaving }) => !leaving);
  const words = `${pods.length} ${pods.length === 1 ? 'pod leaves' : 'pods leave'} ${node.name}, ${stuckOn(pods)}`;
  if (staying.length === 0) return saying(seen, reason, words, 1);
  // Another part in each step: what disruption budgets keep is not all that is ever tried.
  const first = staying.length > mostEvictions ? Math.floor(all.at.getTime() / 1000) % staying.length : 0;
  const part = [...staying.slice(first), ...staying.slice(0, first)].slice(0, mostEvictions);
  const leaving = part.map(({ namespace, name, uid, resourceVersion, cluster }) => ({
    namespace,
    name,
    uid,
    resourceVersion,
    ...(cluster !== undefined && { cluster }),
    ...(cluster !== undefined && named.has(cluster) && { byDeletion: true as const }),
  }));
  return {
    node: node.name,
    reason,
    message: words,
    action: { kind: 'evict', node: node.name, id: grant.id, pods: leaving },
  };
}

/** So many evictions at a time. */
const mostEvictions = 50;

function stuckOn(pods: readonly PodSeen[]): string {
  const names = pods.slice(0, 3).map(({ namespace, name }) => `${namespace}/${name}`);
  return `still there: ${names.join(', ')}${pods.length > 3 ? ', …' : ''}`;
}

/** The order stands, and its Job has not taken it up. */
function awaitBegin(seen: Seen, order: Mark): NodeVerdict {
  const { all, node, grant } = seen;
  const isLate = outOf(seen, order, rebootTimeoutOf(all.policy.spec));
  const hasFailed = node.job !== undefined && node.job.uid === order.word && node.job.state !== 'under-way';
  if (isLate || hasFailed) {
    const job = node.job
      ? `Job ${node.job.name} ${node.job.state === 'failed' ? 'failed' : 'did not do it'}`
      : 'its Job did not come';
    return putOff(seen, 'RebootNotBegun', job);
  }
  const leaving = node.pods?.filter(({ kind }) => kind !== 'stays') ?? [];
  const objection = objectionToDrain(seen, leaving);
  if (leaving.length > 0 || objection) {
    const why = objection?.message ?? stuckOn(leaving);
    return doing(seen, 'OrderTakenBack', `is not told to reboot any more: ${why}`, { kind: 'cordon', id: grant.id });
  }
  return saying(seen, 'Rebooting', `waits for its Job to reboot it, since ${grant.at}`);
}

/** The Job has told the host to go down. */
function awaitBoot(seen: Seen, since: Mark): NodeVerdict {
  const { all, node } = seen;
  const isLate = outOf(seen, since, rebootTimeoutOf(all.policy.spec));
  if (!isLate) return saying(seen, 'Rebooting', 'goes down and is awaited');
  if (!node.ready) return saying(seen, 'NodeNotBack', `went down and is not back after ${timeout(seen)}`);
  if (node.needed === undefined) return putOff(seen, 'CalledOff', 'did not reboot, and needs none any more');
  if (node.job?.state === 'failed')
    return putOff(seen, 'RebootNotBegun', `runs the same boot, and Job ${node.job.name} failed`);
  return saying(seen, 'RebootNotComing', `was told to reboot, and runs the same boot after ${timeout(seen)}`);
}

/** Another boot: as soon as it is Ready, it takes pods again. Members whose volumes can't leave it need that. */
function comeBack(seen: Seen): NodeVerdict {
  const { all, node, grant } = seen;
  const { marks, ready, bootId } = node;
  if (ready) return doing(seen, 'Returned', 'is back', { kind: 'welcome', id: grant.id, bootId, why: grant.why });
  const since = marks.inProgress ?? marks.now ?? marks.granted;
  const isLate = since !== undefined && outOf(seen, since, rebootTimeoutOf(all.policy.spec));
  if (isLate) return saying(seen, 'NodeNotBack', `has booted, and is not Ready after ${timeout(seen)}`);
  return saying(seen, 'Rebooting', 'has booted, and is not Ready yet', 1);
}

/** Not done before the clusters that had a member there are whole: else the next node might cost one its quorum. */
function settle(seen: Seen, since: Mark): NodeVerdict {
  const { all, node, grant } = seen;
  const named = new Set(all.policy.spec.allowDowntimeOf);
  // What a person has stopped, or allows to be down, does not keep the other nodes.
  const awaited = all.clusters.filter(
    ({ key, stopped }) => grant.clusters.includes(key) && stopped === undefined && !named.has(key),
  );
  const open = awaited.flatMap((one) => notWhole(one) ?? []);
  const [first] = open;
  if (first === undefined && node.ready) return doing(seen, 'RebootDone', 'is done', { kind: 'finish', id: grant.id });
  const why = first ?? `${node.name} is not Ready`;
  const isLate = outOf(seen, since, rebootTimeoutOf(all.policy.spec));
  if (isLate) return saying(seen, 'MembersNotBack', `is back, and after ${timeout(seen)} still: ${why}`);
  return saying(seen, 'AwaitingMembers', `is back: ${why}`, 1);
}

function outOf({ all }: Seen, { at }: Mark, limit: number): boolean {
  return all.at.getTime() - at.getTime() > limit;
}

function timeout({ all }: Seen): string {
  return `spec.reboot.timeout (${rebootTimeoutOf(all.policy.spec) / 60_000} min)`;
}

type Rest<T> = T extends NodeAction ? Omit<T, 'node'> : never;

function doing({ node }: Seen, reason: NodeReason, words: string, action: Rest<NodeAction>): NodeVerdict {
  return {
    node: node.name,
    reason,
    message: `${node.name} ${words}`,
    action: { ...action, node: node.name } as NodeAction,
  };
}

/** The way ends, and the node bears why: others have their turn. */
function putOff(seen: Seen, reason: NodeReason, words: string): NodeVerdict {
  return doing(seen, reason, words, { kind: 'put-off', id: seen.grant.id, reason });
}

function saying({ node }: Seen, reason: NodeReason, words: string, afterSeconds = lookSeconds): NodeVerdict {
  // What is stuck is left to the ticks.
  return { node: node.name, reason, message: `${node.name}: ${words}`, ...(!isStuck(reason) && { afterSeconds }) };
}
