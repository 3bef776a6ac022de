import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allFailed, etcdError, notSent } from '../../../reconcile/clients/etcd-errors.ts';
import { EtcdError, type Refusal } from '../../../reconcile/interfaces/etcd.ts';

for (const [words, outcome] of [
  ['14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 10.0.0.1:2379', 'down'],
  ['14 UNAVAILABLE: Name resolution failed for target dns:nowhere:2379', 'down'],
  ['connect EHOSTUNREACH 10.0.0.1:2379', 'down'],
  ['4 DEADLINE_EXCEEDED: Deadline exceeded after 2.0s', 'ambiguous'],
  ['1 CANCELLED: given up', 'ambiguous'],
  ['14 UNAVAILABLE: Connection dropped', 'ambiguous'],
  ['read ECONNRESET', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: request timed out', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: request timed out, possibly due to previous leader failure', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: leader changed', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: server stopped', 'ambiguous'],
  ['2 UNKNOWN: etcdserver: request timed out, leader transfer took too long', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: request timed out, waiting for the applied index took too long', 'ambiguous'],
  ['2 UNKNOWN: etcdserver: request cancelled', 'ambiguous'],
  ['1 CANCELLED: etcdserver: request canceled', 'ambiguous'],
  ['4 DEADLINE_EXCEEDED: etcdserver: context deadline exceeded', 'ambiguous'],
  ['4 DEADLINE_EXCEEDED: context deadline exceeded', 'ambiguous'],
  ['2 UNKNOWN: raft: stopped', 'ambiguous'],
  ['2 UNKNOWN: raft proposal dropped', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: unhealthy cluster', 'refused'],
  ['9 FAILED_PRECONDITION: etcdserver: can only promote a learner member which is in sync with leader', 'refused'],
  ['14 UNAVAILABLE: etcdserver: rpc not supported for learner', 'refused'],
  ['something that nobody has seen before', 'ambiguous'],
] as const) {
  test(`"${words}" is ${outcome}`, () => {
    const error = etcdError('member list', 'http://a:2379', new Error(words));
    assert.equal(error.outcome, outcome);
    assert.ok(error.message.startsWith('member list at http://a:2379: '));
  });
}

for (const [outcomes, together] of [
  [['down', 'down'], 'down'],
  [['down', 'refused'], 'refused'],
  [['refused', 'ambiguous', 'down'], 'ambiguous'],
] as const) {
  test(`${outcomes.join(' and ')} together are ${together}, with every endpoint named`, () => {
    const said = { down: 'connect ECONNREFUSED', refused: 'etcdserver: no leader', ambiguous: 'read ECONNRESET' };
    const failures = outcomes.map((outcome, i) =>
      etcdError('member list', `http://e${i}:2379`, new Error(said[outcome])),
    );
    const error = allFailed('member list', failures);
    assert.equal(error.outcome, together);
    for (const i of outcomes.keys()) assert.ok(error.message.includes(`http://e${i}:2379`));
  });
}

for (const [words, reason] of [
  ['9 FAILED_PRECONDITION: etcdserver: too many learner members in cluster', 'TooManyLearners'],
  ['14 UNAVAILABLE: etcdserver: unhealthy cluster', 'UnhealthyCluster'],
  ['9 FAILED_PRECONDITION: etcdserver: Peer URLs already exists', 'PeerUrlExists'],
  ['9 FAILED_PRECONDITION: etcdserver: member ID already exist', 'MemberIdExists'],
  ['3 INVALID_ARGUMENT: etcdserver: given member URLs are invalid', 'BadUrls'],
  ['2 UNKNOWN: etcdserver: re-configuration failed due to not enough started members', 'NotEnoughStarted'],
  ['9 FAILED_PRECONDITION: etcdserver: can only promote a learner member which is in sync with leader', 'NotInSync'],
  ['9 FAILED_PRECONDITION: etcdserver: can only promote a learner member', 'NotALearner'],
  ['5 NOT_FOUND: etcdserver: member not found', 'MemberNotFound'],
  ['14 UNAVAILABLE: etcdserver: no leader', 'NoLeader'],
  ['9 FAILED_PRECONDITION: etcdserver: not leader', 'NotLeader'],
  ['9 FAILED_PRECONDITION: etcdserver: bad leader transferee', 'BadTransferee'],
  ['14 UNAVAILABLE: etcdserver: rpc not supported for learner', 'NotSupportedByLearner'],
  ['9 FAILED_PRECONDITION: etcdserver: cluster ID mismatch', 'ClusterIdMismatch'],
  ['11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted', 'Compacted'],
  ['11 OUT_OF_RANGE: etcdserver: mvcc: required revision is a future revision', 'FutureRevision'],
  ['8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded', 'NoSpace'],
  ['15 DATA_LOSS: etcdserver: corrupt cluster', 'CorruptCluster'],
  ['2 UNKNOWN: etcdserver: too many requests', 'TooManyRequests'],
  ['7 PERMISSION_DENIED: etcdserver: permission denied', 'PermissionDenied'],
  ['3 INVALID_ARGUMENT: etcdserver: user name is empty', 'UserNeeded'],
  ['9 FAILED_PRECONDITION: etcdserver: user name not found', 'UserNeeded'],
  ['9 FAILED_PRECONDITION: etcdserver: user name already exists', 'UserExists'],
  ['9 FAILED_PRECONDITION: etcdserver: role name already exists', 'RoleExists'],
  ['9 FAILED_PRECONDITION: etcdserver: role name not found', 'NoSuchRole'],
  ['9 FAILED_PRECONDITION: etcdserver: role is not granted to the user', 'NotGranted'],
  ['9 FAILED_PRECONDITION: etcdserver: permission is not granted to the role', 'NotGranted'],
  ['9 FAILED_PRECONDITION: etcdserver: root user does not exist', 'RootNeeded'],
  ['9 FAILED_PRECONDITION: etcdserver: root user does not have root role', 'RootNeeded'],
  ['3 INVALID_ARGUMENT: etcdserver: invalid auth management', 'RootNeeded'],
  ['2 UNKNOWN: etcdserver: constructor', undefined],
] as const satisfies readonly (readonly [string, Refusal | undefined])[]) {
  test(`"${words}" is refused as ${reason ?? 'nothing that is known'}`, () => {
    const error = etcdError('promote 1f', 'http://a:2379', new Error(words));
    assert.deepEqual([error.outcome, error.reason], ['refused', reason]);
  });
}

test('what is ambiguous has no reason, for it may have been done', () => {
  const error = etcdError('promote 1f', 'http://a:2379', new Error('14 UNAVAILABLE: etcdserver: leader changed'));
  assert.deepEqual([error.outcome, error.reason], ['ambiguous', undefined]);
});

const said = (outcome: EtcdError['outcome'], reason?: Refusal) =>
  new EtcdError(`${outcome} ${reason}`, outcome, undefined, undefined, reason);
for (const [failures, outcome, reason] of [
  [[said('ambiguous')], 'down', undefined],
  [[said('ambiguous'), said('refused', 'NotLeader')], 'down', undefined],
  [[said('down'), said('refused', 'NotLeader')], 'down', undefined],
  [[said('refused', 'NotLeader'), said('refused', 'NotLeader')], 'refused', 'NotLeader'],
  [[said('refused', 'NotLeader'), said('refused', 'ClusterIdMismatch')], 'refused', undefined],
] as const) {
  test(`after ${failures.map(({ message }) => message).join(' and ')}, a change was not sent: ${outcome}`, () => {
    const error = notSent('remove 1f', failures);
    assert.deepEqual([error.outcome, error.reason], [outcome, reason]);
    assert.ok(error.message.startsWith('remove 1f: not sent: '));
    for (const { message } of failures) assert.ok(error.message.includes(message));
  });
}
