import type { NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import { type Begun, doing, outOf, putOff, saying, timeout } from './begun.ts';
import { methodOf, type NodeVerdict, rebootTimeoutOf } from './decision.ts';
import { drain, mustLeave, objectionToDrain, stuckOn } from './drain.ts';
import { notWhole } from './etcd.ts';
import type { Mark } from './marks.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';

/** The way of one node that has begun. Each stage is told by what is there, so that any step can go on from it. */

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
  const taken = takenByOthers(seen);
  if (taken) return awaitBoot(seen, taken);
  return drain(seen, marks.cordoned);
}

/** What a stranger wrote there, or what named a Job that is gone, is no order. */
function isOrder({ all, node, grant }: Begun, { word }: Mark): boolean {
  if (methodOf(all.policy.spec) !== 'External') return word === node.job?.uid;
  return word === grant.id && grant.ordered !== undefined;
}

/** Of method External: an annotation that is gone says that the host was told. Ordered again, it would reboot twice. */
function takenByOthers({ all, node, grant }: Begun): Mark | undefined {
  const { ordered } = grant;
  if (methodOf(all.policy.spec) !== 'External' || ordered === undefined || node.marks.now) return undefined;
  return { at: new Date(ordered), word: grant.bootID };
}

/** The order stands, and its Job has not taken it up. */
function awaitBegin(seen: Begun, order: Mark): NodeVerdict {
  const { all, node, grant } = seen;
  const isLate = outOf(seen, order, rebootTimeoutOf(all.policy.spec));
  const hasFailed = node.job !== undefined && node.job.uid === order.word && node.job.state !== 'under-way';
  if (isLate || hasFailed) {
    const job = node.job
      ? `Job ${node.job.name} ${node.job.state === 'failed' ? 'failed' : 'did not do it'}`
      : 'its Job did not come';
    return putOff(seen, 'RebootNotBegun', job);
  }
  const leaving = mustLeave(node, all.policy.spec);
  const objection = objectionToDrain(seen, leaving);
  if (leaving.length > 0 || objection) {
    const why = objection?.message ?? stuckOn(leaving);
    return doing(seen, 'OrderTakenBack', `is not told to reboot any more: ${why}`, { kind: 'cordon', id: grant.id });
  }
  return saying(seen, 'Rebooting', `waits for its Job to reboot it, since ${grant.at}`);
}

/** The Job has told the host to go down. */
function awaitBoot(seen: Begun, since: Mark): NodeVerdict {
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
function comeBack(seen: Begun): NodeVerdict {
  const { all, node, grant } = seen;
  const { marks, ready, bootId } = node;
  if (ready) return doing(seen, 'Returned', 'is back', { kind: 'welcome', id: grant.id, bootId, why: grant.why });
  const since = marks.inProgress ?? marks.now ?? marks.granted;
  const isLate = since !== undefined && outOf(seen, since, rebootTimeoutOf(all.policy.spec));
  if (isLate) return saying(seen, 'NodeNotBack', `has booted, and is not Ready after ${timeout(seen)}`);
  return saying(seen, 'Rebooting', 'has booted, and is not Ready yet', 1);
}

/** Not done before the clusters that had a member there are whole: else the next node might cost one its quorum. */
function settle(seen: Begun, since: Mark): NodeVerdict {
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
