import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { lifeOf } from '../../../reconcile/cluster/know/life.ts';
import { before, beside, inherited, others } from './adoptions.ts';
import { clusterId, members, noQuorum, without, withRecord, withVolume } from './observations.ts';

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

  test('after two that were not promoted in time a person is told, and the next one waits', () => {
    const seen = before();
    const { cluster, at } = seen;
    const entry = {
      at: new Date(at.getTime() - 60_000).toISOString(),
      action: 'remove-member',
      reason: 'RemovingFailedLearner',
      message: 'orders-0 does not hear old-0',
      outcome: 'acted',
      generation: cluster.metadata.generation ?? 0,
    };
    const told = (tries: number) => {
      const status = { observedGeneration: 1, ...cluster.status, history: Array.from({ length: tries }, () => entry) };
      return decide({ ...seen, cluster: { ...cluster, status } });
    };
    assert.equal(told(1).kind, 'act');
    assert.deepEqual([told(2).kind, told(2).reason], ['refuse', 'LearnersFail']);
  });

  test('it joins again where an earlier one of ours let clients in, and the status was lost', () => {
    const seen = before();
    const decision = decide({ ...seen, shared: { ...seen.shared, clientService: { state: 'present' } } });
    assert.equal(decision.reason, 'JoiningExisting', decision.message);
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

describe('a member of ours that lost its volume before it voted', () => {
  const status = { observedGeneration: 1, clusterID: clusterId };
  const lost = (every = without('volume')) => {
    const shared = { disruptionBudget: { state: 'present', minAvailable: 2 } } as const;
    const seen = beside(1, { every, shared, spec: { replicas: 1 } });
    const { membership } = seen;
    assert.ok(membership.kind === 'known');
    const cluster = { ...seen.cluster, status };
    return { ...seen, cluster, membership: { ...membership, members: others() } };
  };

  test('has its EtcdPeer deleted, where the others are whole without it', () => {
    const decision = decide(lost());
    assert.ok(decision.kind === 'act', `${decision.reason}: ${decision.message}`);
    assert.equal(decision.action.kind, 'retire-member');
  });

  test('begins anew once nothing of it is left but what a dead node keeps', () => {
    const kept = lost((slot) =>
      without('peer')(withVolume({ leaving: true })(withRecord({ state: 'released' })(slot))),
    );
    assert.equal(lifeOf(kept).stage, 'unborn');
  });

  test("is a person's where one of the others has left their list", () => {
    const seen = lost();
    const members = others().slice(1);
    const life = lifeOf({ ...seen, membership: { ...seen.membership, members } });
    assert.equal(life.stage === 'unclear' && life.reason, 'AllVolumesGone');
  });
});
