import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicyStatus, NodeGrant } from '../../../manifests/api/etcd-node-policy.ts';
import type { NodeAction, NodesDecision, NodeVerdict } from '../../../reconcile/nodes/decision.ts';
import { type NodeOutcome, nodePolicyStatus, toldVerdicts } from '../../../reconcile/nodes/report.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { at, grantOf, policyOf, seenOf } from './seen.ts';

/** What a policy says after a step, by what its action came to. */

const acted: NodeOutcome = { kind: 'acted', kept: [] };
const failed: NodeOutcome = { kind: 'failed', message: 'it failed', refused: true };
const id = 'id-node-1';
const pod = { namespace: 'default', name: 'web', uid: 'u', resourceVersion: '7' };
const member = { ...pod, name: 'orders-0-0', cluster: 'default/orders' };
const evict = (...pods: readonly (typeof pod)[]): NodeAction => ({ kind: 'evict', node: 'node-1', id, pods });
const order: NodeAction = { kind: 'order', node: 'node-1', grant: grantOf('node-1') };
const finish: NodeAction = { kind: 'finish', node: 'node-1', id };
const other: NodeVerdict = { node: 'node-2', reason: 'NoRoom', message: 'node-2 waits' };

function decided(action: NodeAction, reason: NodeVerdict['reason'] = 'Draining'): NodesDecision {
  const first: NodeVerdict = { node: action.node, reason, message: 'node-1 goes on', action };
  return { action, verdicts: [first, other], selected: 3, needed: 2 };
}

function statusAfter(
  decision: NodesDecision,
  outcome: NodeOutcome,
  grants: readonly NodeGrant[] = [grantOf('node-1')],
  before: Partial<EtcdNodePolicyStatus> = {},
): EtcdNodePolicyStatus {
  const status = { observedGeneration: 1, grants, ...before };
  return nodePolicyStatus(seenOf({ policy: { ...policyOf(), status } }), decision, outcome);
}

test('what an action came to is told of its own node', () => {
  const told = toldVerdicts(decided(order), failed);
  assert.deepEqual(
    told.map(({ reason, message }) => `${reason}: ${message}`),
    ['JobRefused: node-1 goes on: it failed', 'NoRoom: node-2 waits'],
  );
  const busy = toldVerdicts(decided(evict(pod)), failed);
  assert.equal(busy[0]?.reason, 'Draining', 'a refusal of another action is none of a Job');
});

test('an eviction is told as refused only where a disruption budget kept a pod', () => {
  const reasonOf = (outcome: NodeOutcome) => toldVerdicts(decided(evict(pod)), outcome)[0]?.reason;
  assert.equal(reasonOf(acted), 'Draining');
  assert.equal(reasonOf({ kind: 'acted', kept: ['default/web'] }), 'EvictionRefused');
});

test('a node that was begun with needs no reboot besides', () => {
  const grant: NodeAction = { kind: 'grant', node: 'node-1', grant: grantOf('node-1') };
  assert.equal(statusAfter(decided(grant, 'Granted'), acted).needed, 1);
  assert.equal(statusAfter(decided(grant, 'Granted'), failed).needed, 2);
  assert.equal(statusAfter(decided(order), acted).needed, 2);
});

test('a node that is done, or was put off, is not told as one that waits', () => {
  const blocked = (decision: NodesDecision, outcome: NodeOutcome) =>
    statusAfter(decision, outcome).blocked?.map(({ node }) => node);
  assert.deepEqual(blocked(decided({ kind: 'drop', node: 'node-1', id }, 'RebootDone'), failed), ['node-2']);
  const putOff: NodeAction = { kind: 'put-off', node: 'node-1', id, reason: 'DrainTimedOut' };
  assert.deepEqual(blocked(decided(putOff, 'DrainTimedOut'), acted), ['node-2']);
  assert.deepEqual(blocked(decided(putOff, 'DrainTimedOut'), failed), ['node-1', 'node-2']);
});

test('a cluster has one less from the first member that leaves on, and only there', () => {
  const earlier = grantOf('node-1', { oneLessSince: '2026-11-23T11:50:00Z' });
  const since = (action: NodeAction, ...grants: readonly NodeGrant[]) =>
    statusAfter(decided(action), acted, grants).grants?.map(({ oneLessSince }) => oneLessSince);
  const now = timestamp(at);
  assert.deepEqual(since(evict(pod, member), grantOf('node-1'), grantOf('node-2')), [now, undefined]);
  assert.deepEqual(since(evict(pod), grantOf('node-1')), [undefined]);
  assert.deepEqual(since(order, grantOf('node-1')), [now]);
  assert.deepEqual(since(order, earlier), [earlier.oneLessSince]);
  assert.deepEqual(since(order, grantOf('node-1', { clusters: [] })), [undefined]);
  assert.deepEqual(since({ kind: 'cordon', node: 'node-1', id }, grantOf('node-1')), [undefined]);
});

test('how long a cluster had one less is told of the last node that had members', () => {
  const lastDone = (grant: Partial<NodeGrant>, before: Partial<EtcdNodePolicyStatus> = {}) =>
    statusAfter(decided(finish), acted, [grantOf('node-1', grant)], before).lastDone;
  const done = { node: 'node-1', at: timestamp(at) };
  assert.deepEqual(lastDone({ oneLessSince: '2026-11-23T11:58:20Z' }), { ...done, oneLessSeconds: 100 });
  assert.deepEqual(lastDone({}), done);
  const before = { lastDone: { node: 'node-9', at: '2026-11-22T12:00:00Z', oneLessSeconds: 95 } };
  assert.deepEqual(lastDone({}, before), { ...done, oneLessSeconds: 95 });
});

test('only a reboot that came to its end counts as done, and only members that left as missing', () => {
  const putOff: NodeAction = { kind: 'put-off', node: 'node-1', id, reason: 'DrainTimedOut' };
  const after = (action: NodeAction, outcome: NodeOutcome = acted) => {
    const { done, grants = [] } = statusAfter(decided(action), outcome, [grantOf('node-1')], { done: 4 });
    return [done, grants.length];
  };
  assert.deepEqual(
    [after(finish), after(putOff), after({ kind: 'drop', node: 'node-1', id })],
    [
      [5, 0],
      [4, 0],
      [4, 0],
    ],
  );
  assert.deepEqual(
    [after(finish, failed), after(evict(pod))],
    [
      [4, 1],
      [4, 1],
    ],
  );
  const { grants } = statusAfter(decided(evict(pod, member)), failed);
  assert.equal(grants?.[0]?.oneLessSince, undefined);
});

test('a policy is stalled where a node is stuck or a window can not be read, and else is not', () => {
  const told = (reason: NodeVerdict['reason'], grants: readonly NodeGrant[] = []) => {
    const decision = { verdicts: [{ node: 'node-1', reason, message: 'x' }], selected: 1, needed: 1 };
    const { conditions = [] } = statusAfter(decision, { kind: 'none' }, grants);
    return conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
  };
  const begun = [grantOf('node-1')];
  assert.deepEqual([told('NodeNotBack', begun), told('InvalidWindow')], [['Stalled'], ['Stalled']]);
  assert.deepEqual([told('Rebooting', begun), told('NoRoom')], [['Ready', 'Reconciling'], ['Ready']]);
});
