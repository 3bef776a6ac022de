import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { approvalOfAdoption } from '../../../reconcile/cluster/know/inherited.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { InheritedView, Membership, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { quorumOf } from '../../../reconcile/cluster/know/quorum.ts';
import type { EndpointStatus, ListedMember } from '../../../reconcile/etcd.ts';
import { sentBy } from './actions/sent.ts';
import {
  clusterId,
  type Differences,
  endpoint,
  healthy,
  members,
  noQuorum,
  silent,
  unborn,
  withEndpoint,
  without,
  type withPod,
  withVolume,
} from './observations.ts';

const memberIDs = ['ed0', 'ed1', 'ed2'];
const existing = { clusterID: clusterId, memberIDs, podLabels: { app: 'old' } };
const bootstrap = { existing };

function others(change: Partial<ListedMember> = {}): readonly ListedMember[] {
  return memberIDs.map((id, n) => ({
    id,
    name: `old-${n}`,
    peerURLs: [`http://old-${n}.old.shop.svc:2380`],
    clientURLs: [],
    isLearner: false,
    ...(n === 0 && change),
  }));
}

/** @param change of what the first of the others says */
function inherited(leader: string, change: Partial<EndpointStatus> | 'silent' = {}): readonly InheritedView[] {
  return memberIDs.map((memberId, n) => ({
    memberId,
    endpoint:
      n === 0 && change === 'silent'
        ? silent
        : endpoint(0, { memberId, leader, ...(n === 0 && change !== 'silent' && change) }),
  }));
}

function beside(
  ours: number,
  { spec = {}, ...differences }: Differences = {},
  leader = memberIDs[2] ?? '',
): Observation {
  const list = members(ours);
  return {
    ...healthy(ours, {
      ...differences,
      spec: { bootstrap, ...spec },
      metadata: { finalizers: [volumesFinalizer], ...differences.metadata },
      membership: differences.membership ?? { ...list, members: [...list.members, ...others()] },
      every: (slot) =>
        differences.every?.(withEndpoint(endpoint(slot.ordinal, { leader }))(slot)) ??
        withEndpoint(endpoint(slot.ordinal, { leader }))(slot),
      shared: { disruptionBudget: { state: 'present', minAvailable: quorumOf(ours + 3) }, ...differences.shared },
    }),
    inherited: inherited(leader),
  };
}

function before(spec: Partial<EtcdClusterSpec> = {}, list = others(), seen = inherited('ed2')): Observation {
  const membership: Membership = { kind: 'known', clusterId, members: list };
  const metadata = { finalizers: [volumesFinalizer] };
  const missing = { state: 'missing' } as const;
  const shared = {
    headlessService: missing,
    clientService: missing,
    disruptionBudget: missing,
    networkPolicy: missing,
  };
  return { ...unborn(3, { spec: { bootstrap, ...spec }, membership, metadata, shared }), inherited: seen };
}

function approved(observation: Observation): Observation {
  const decision = decide(observation);
  assert.ok(decision.kind === 'refuse' && decision.approval, JSON.stringify(decision.reason));
  const { annotation, value } = decision.approval;
  assert.equal(annotation, annotations.adopt);
  const { cluster } = observation;
  const metadata = { ...cluster.metadata, annotations: { [annotation]: value } };
  return { ...observation, cluster: { ...cluster, metadata } };
}

describe('before any member of ours', () => {
  test('the first joins as a learner, with the list of the others and their cluster ID', () => {
    const decision = decide(before());
    assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members', decision.reason);
    const [{ name, record } = assert.fail(), ...more] = decision.action.members;
    assert.deepEqual([name, more.length, record.state, record.clusterId], ['orders-0', 0, 'joining', clusterId]);
    assert.deepEqual(
      record.initialCluster.map((one) => one.name),
      ['old-0', 'old-1', 'old-2', 'orders-0'],
    );
    assert.equal(decision.action.starts?.joins?.clusterId, clusterId);
  });

  test('it takes no name that one of the others has', () => {
    const decision = decide(before({}, others({ name: 'orders-0' })));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members');
    assert.equal(decision.action.members[0]?.name, 'orders-1');
  });

  test('a list that is unknown is never taken for an empty one', () => {
    const decision = decide({ ...before(), membership: noQuorum('no member runs'), inherited: [] });
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'ExistingUnreachable']);
  });

  for (const [what, observation, words] of [
    ['a member that the spec does not name', before({}, [...others(), ...members(1).members]), /memberIDs lacks/],
    ['a member fewer than the spec names', before({}, others().slice(1)), /is not on the member list/],
    ['a learner', before({}, others({ isLearner: true })), /is a learner/],
    ['a member that is silent', before({}, others(), inherited('ed2', 'silent')), /does not answer/],
    ['a member that follows no leader', before({}, others(), inherited('ed2', { leader: '0' })), /follows no leader/],
    ['an alarm', before({}, others(), inherited('ed2', { errors: ['alarm:NOSPACE'] })), /NOSPACE/],
    ['another minor', before({}, others(), inherited('ed2', { version: '3.5.35' })), /spec\.version is 3\.6/],
    ['a version that is too old', before({}, others(), inherited('ed2', { version: '3.4.23' })), /3\.4\.23/],
    ['a version that is none', before({}, others(), inherited('ed2', { version: '\u0000x' })), /beside which/],
    ['a database beyond the quota', before({}, others(), inherited('ed2', { dbSize: 2n ** 40n })), /stops writes/],
    ['peer URLs with TLS', before({}, others({ peerURLs: ['https://old-0:2380'] })), /http URLs/],
    ['certificates of a CA of ours', before({ tls: { mode: 'Managed' } }), /its CA is not the one/],
  ] as const) {
    test(`${what} is refused, with a cure, and nothing is made`, () => {
      const decision = decide(observation);
      assert.ok(decision.kind === 'refuse', decision.reason);
      assert.equal(decision.reason, 'ExistingNotFit');
      assert.match(decision.message, words);
      assert.notEqual(decision.cure, '');
    });
  }
});

describe('while members of others vote beside ours', () => {
  test('more of ours join until there are as many as the spec asks', () => {
    const decision = decide(beside(1, { spec: { replicas: 3 } }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members', decision.reason);
    assert.equal(decision.action.members[0]?.name, 'orders-1');
  });

  test('none of the others leaves before a person approves exactly that', () => {
    const decision = decide(beside(3));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'AdoptionNotApproved']);
    const wrong = beside(3, { metadata: { annotations: { [annotations.adopt]: `${clusterId}/000000000000` } } });
    assert.equal(decide(wrong).reason, 'AdoptionNotApproved');
  });

  test('approved, they leave one at a time, the leader last and to one of ours', () => {
    const seen = approved(beside(3));
    const decision = decide(seen);
    assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-inherited', decision.reason);
    assert.equal(decision.action.memberId, 'ed0');
    const { membership } = seen;
    assert.ok(membership.kind === 'known');
    const left = membership.members.filter(({ id }) => id !== 'ed0' && id !== 'ed1');
    const shared = { ...seen.shared, disruptionBudget: { state: 'present', minAvailable: 3 } as const };
    const last = decide({ ...seen, shared, membership: { ...membership, members: left } });
    assert.ok(last.kind === 'act' && last.action.kind === 'remove-inherited', last.reason);
    assert.deepEqual([last.action.memberId, last.action.successor?.name.startsWith('orders-')], ['ed2', true]);
    assert.ok(sentBy(last.action, seen).writes.some((write) => write.startsWith('moveLeader')));
  });

  test('an approval that was taken back meanwhile stops the removal before it is sent', () => {
    const seen = approved(beside(3));
    const decision = decide(seen);
    assert.ok(decision.kind === 'act');
    const sent = sentBy(decision.action, beside(3));
    assert.deepEqual([sent.writes, sent.ended], [[], 'WorldMoved']);
  });

  test('a member that joined beside the approval is unknown, and nothing leaves', () => {
    const list = members(3);
    const strange = { ...others()[0], id: 'fff1', name: 'added', peerURLs: ['http://added:2380'] } as ListedMember;
    const seen = approved(beside(3));
    const members5 = { ...list, members: [...list.members, ...others(), strange] };
    const decision = decide({ ...seen, membership: members5 });
    assert.equal(decision.reason, 'UnknownMember');
    assert.ok(decision.kind === 'refuse' && decision.cure.startsWith('stop what manages'));
  });

  test('one that is down stops all, and leaves first where that is approved', () => {
    const seen = { ...beside(3), inherited: inherited('ed2', 'silent') };
    assert.equal(decide(seen).reason, 'InheritedMemberDown');
    const decision = decide(approved(seen));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-inherited', decision.reason);
    assert.equal(decision.action.memberId, 'ed0');
  });

  test('no quorum of the others: a member that is down does not leave', () => {
    const down = {
      every: (slot: Parameters<ReturnType<typeof withPod>>[0]) => without('pod')(withEndpoint(silent)(slot)),
    };
    const seen = { ...beside(3, down), inherited: inherited('ed2', 'silent') };
    const asked = decide(approved({ ...beside(3), inherited: seen.inherited }));
    assert.equal(asked.kind, 'act');
    const { annotations: given } = approved({ ...beside(3), inherited: seen.inherited }).cluster.metadata;
    const metadata = { ...seen.cluster.metadata, ...(given && { annotations: given }) };
    const decision = decide({ ...seen, cluster: { ...seen.cluster, metadata } });
    assert.ok(!(decision.kind === 'act' && decision.action.kind === 'remove-inherited'), decision.reason);
  });

  test('no version, size of zero or rollback begins', () => {
    assert.equal(decide(beside(3, { spec: { replicas: 0 } })).reason, 'AdoptionUnfinished');
    assert.equal(decide(beside(3, { spec: { version: '3.6.17' } })).reason, 'AdoptionNotApproved');
    assert.equal(decide(beside(1, { spec: { replicas: 3, version: '3.7.3' } })).reason, 'ExistingNotFit');
  });

  test('where no quorum answers, no recovery is offered: the others may serve elsewhere', () => {
    const last = [...members(3).members, ...others()];
    const membership = { kind: 'unknown', cause: 'no quorum answers', last } as const;
    const seen = { ...beside(3, { membership }), inherited: [] };
    const decision = decide({
      ...seen,
      slots: seen.slots.map((slot) => (slot.ordinal === 0 ? slot : withVolume({ lost: true })(slot))),
    });
    assert.ok(decision.kind === 'refuse');
    assert.deepEqual([decision.reason, decision.approval], ['ExistingUnreachable', undefined]);
  });
});

describe('a deletion', () => {
  const deletionTimestamp = '2026-01-02T03:00:00Z';

  test('has members of ours leave first, the highest ordinal before the others', () => {
    const decision = decide(beside(3, { metadata: { deletionTimestamp, finalizers: [volumesFinalizer] } }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-member', decision.reason);
    assert.deepEqual([decision.reason, decision.action.name], ['LeavingExisting', 'orders-2']);
  });

  test('waits while no quorum of all is healthy: what leaves could be needed for one', () => {
    const down = {
      every: (slot: Parameters<ReturnType<typeof withPod>>[0]) => without('pod')(withEndpoint(silent)(slot)),
      metadata: { deletionTimestamp, finalizers: [volumesFinalizer] },
    };
    const decision = decide(beside(3, down));
    assert.deepEqual([decision.kind, decision.reason], ['wait', 'AdoptionUnfinished']);
  });

  test('waits where the list is unknown, and lets go when the spec forgets the others', () => {
    const unknown = {
      membership: noQuorum('no member runs'),
      metadata: { deletionTimestamp, finalizers: [volumesFinalizer] },
    };
    const seen = { ...beside(3, unknown), inherited: [] };
    assert.equal(decide(seen).reason, 'AdoptionUnfinished');
    const spec = { ...seen.cluster.spec, bootstrap: {} };
    assert.equal(decide({ ...seen, cluster: { ...seen.cluster, spec } }).reason, 'LettingGo');
  });

  test('is held from the beginning, also where the policy keeps the volumes', () => {
    const decision = decide({
      ...before(),
      cluster: { ...before().cluster, metadata: { ...before().cluster.metadata, finalizers: [] } },
    });
    assert.ok(decision.kind === 'act' && decision.action.kind === 'set-finalizer' && decision.action.present);
  });
});

describe('a plan of an adoption', () => {
  const start = before({ replicas: 3 });
  const withApproval = (value: string): Observation => {
    const metadata = { ...start.cluster.metadata, annotations: { [annotations.adopt]: value } };
    return { ...start, cluster: { ...start.cluster, metadata } };
  };
  const votersIn = ({ membership }: Observation) =>
    membership.kind === 'known' ? membership.members.filter(({ isLearner }) => !isLearner).map(({ name }) => name) : [];

  test('ends beside the others, with the approval that a person is asked for', () => {
    const { steps, end, outcome } = plan(start);
    assert.deepEqual([end.kind, end.reason], ['refused', 'AdoptionNotApproved']);
    assert.deepEqual(
      steps.filter(({ action }) => action === 'remove-inherited'),
      [],
    );
    assert.deepEqual(votersIn(outcome).toSorted(), ['old-0', 'old-1', 'old-2', 'orders-0', 'orders-1', 'orders-2']);
  });

  test('goes on where the approval is given: the others leave last, and no member restarts', () => {
    const { steps, end, outcome } = plan(withApproval(approvalOfAdoption(existing)));
    assert.deepEqual([end.kind, end.reason], ['done', 'Converged']);
    const removals = steps.filter(({ action }) => action === 'remove-inherited');
    const first = steps.findIndex(({ action }) => action === 'remove-inherited');
    const last = steps.findLastIndex(({ action }) => action === 'promote-learner');
    assert.ok(last < first, 'as many of ours vote before the first of them leaves');
    assert.deepEqual(removals, steps.slice(first, first + 3));
    assert.deepEqual(
      removals.map(({ target }) => target),
      ['old-0', 'old-1', 'old-2'],
      'the leader, old-2, last',
    );
    assert.equal(steps.filter(({ restarts }) => restarts).length, 0);
    assert.deepEqual(votersIn(outcome).toSorted(), ['orders-0', 'orders-1', 'orders-2']);
  });

  test('counts no approval of other members, or of another cluster', () => {
    for (const other of [
      { ...existing, memberIDs: ['ed0', 'ed1'] },
      { ...existing, clusterID: 'beef' },
    ])
      assert.equal(plan(withApproval(approvalOfAdoption(other))).end.reason, 'AdoptionNotApproved');
  });
});
