import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { outliveVolume } from '../../../reconcile/cluster/decide/rules/volumes/outlive-volume.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  clusterId,
  crashing,
  endpoint,
  healthy,
  memberId,
  members,
  noQuorum,
  notStarted,
  silent,
  unsealed,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

/** What `npm run explore` found, each of them a cluster that would never have come to rest, or worse. */

const hourAgo = '2026-01-02T02:00:00Z';

function illFor(name: string): Parameters<typeof healthy>[1] {
  return { status: { observedGeneration: 3, members: [{ name, healthy: false, unhealthySince: hourAgo }] } };
}

const listWithLearner = (joined: string) => ({
  ...members(3),
  members: members(3).members.map((one, index) => (index === 2 ? { ...one, name: joined, isLearner: true } : one)),
});

function reasonOf(observation: Observation): string {
  return decide(observation).reason;
}

const learner = (slot: Slot): Slot => withEndpoint(endpoint(2, { isLearner: true }))(slot);

describe('what the search for counterexamples has found', () => {
  test('a learner without its volume is removed again, or nothing would ever join', () => {
    const observation = healthy(3, {
      ...illFor('orders-2'),
      slots: { 2: all(without('volume', 'statefulSet', 'pod', 'configMap'), withEndpoint(silent)) },
      membership: listWithLearner(''),
    });
    const decision = decide(observation);
    assert.equal(decision.reason, 'RemovingFailedLearner');
    assert.deepEqual(decision.kind === 'act' && decision.action, {
      kind: 'remove-member',
      name: 'orders-2',
      memberId: memberId(2),
      clusterId,
      retires: {
        peer: { name: 'orders-2', uid: 'peer-2' },
        keep: true,
        url: 'http://orders-2-0.orders-peers.shop.svc:2380',
      },
    });
  });

  test('a learner is not promoted on a volume that goes with its pod', () => {
    const leaving = all(learner, withVolume({ leaving: true }));
    const observation = healthy(3, { slots: { 2: leaving }, membership: listWithLearner('orders-2') });
    assert.equal(reasonOf(observation), 'VolumeLeaving');
    const later = healthy(3, {
      ...illFor('orders-2'),
      slots: { 2: all(leaving, withEndpoint(silent)) },
      membership: listWithLearner('orders-2'),
    });
    assert.equal(reasonOf(later), 'RemovingFailedLearner');
  });

  test('a removal that would cost the quorum is not tried for ever: it waits, or says the cure', () => {
    const going = withRecord({ state: 'releasing' });
    const starting = all(withEndpoint(silent), withPod({ ready: false }));
    const waiting = decide(healthy(3, { spec: { replicas: 1 }, slots: { 0: starting, 2: going } }));
    assert.deepEqual([waiting.kind, waiting.reason], ['wait', 'RemovalUnsafe']);
    const stuck = decide(healthy(3, { spec: { replicas: 1 }, slots: { 0: crashing, 2: going } }));
    assert.equal(stuck.kind === 'refuse' && stuck.reason, 'RemovalUnsafe');
    assert.match(stuck.kind === 'refuse' ? stuck.cure : '', /bring orders-0 back; .* etcdctl member remove a0/);
  });

  test('a removal that waits for several members names all of them', () => {
    const going = withRecord({ state: 'releasing' });
    const decision = decide(healthy(5, { spec: { replicas: 3 }, slots: { 0: crashing, 1: crashing, 4: going } }));
    assert.equal(decision.reason, 'RemovalUnsafe');
    assert.match(decision.message, /orders-0.*; nor do these answer: orders-1$/);
  });

  test('the last member does not leave, whatever its volume says', () => {
    const decision = decide(healthy(1, { slots: { 0: withRecord({ state: 'releasing' }) } }));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'RemovalUnsafe']);
  });

  test('a removal of a member that is not needed goes on beside a member that is down', () => {
    const observation = healthy(5, {
      spec: { replicas: 3 },
      slots: { 0: crashing, 4: withRecord({ state: 'releasing' }) },
    });
    assert.equal(reasonOf(observation), 'RemovingMember');
  });

  test('a removal that a vanished voter makes unsafe is not tried for ever', () => {
    const decision = decide(
      healthy(3, { spec: { replicas: 2 }, slots: { 2: withRecord({ state: 'releasing' }) }, gone: [0] }),
    );
    assert.equal(decision.reason, 'RemovalUnsafe');
    assert.ok(decision.kind === 'refuse' && decision.cure.includes('etcdctl member remove a0'));
  });

  test('without a quorum, a member that was to leave does not hide that it is broken', () => {
    const observation = healthy(2, {
      spec: { replicas: 1 },
      slots: { 1: all(crashing, withRecord({ state: 'releasing' })) },
      membership: noQuorum('no quorum answers'),
    });
    assert.notEqual(decide(observation).kind, 'wait');
  });

  test('nothing is prepared for a volume that goes while its member runs: that is told', () => {
    const going = all(unsealed, without('configMap'), withVolume({ leaving: true }));
    const decision = decide(healthy(1, { spec: { replicas: 1 }, slots: { 0: going } }));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'VolumeLeaving'], decision.message);
  });

  test('a member does not fall asleep when its volume would go with it', () => {
    const asleep = withRecord({ state: 'hibernating' });
    const observation = healthy(3, { spec: { replicas: 0 }, slots: { 0: asleep, 1: withVolume({ leaving: true }) } });
    const decision = decide(observation);
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'VolumeLeaving']);
  });

  test('a member does not wake on a volume that goes: it is healed', () => {
    const observation = healthy(3, {
      ...illFor('orders-0'),
      slots: { 0: all(withRecord({ state: 'hibernating' }), withVolume({ leaving: true })) },
    });
    assert.equal(reasonOf(observation), 'ReplacingMember');
  });

  test('on the way back, a member that never ran the new minor is told first', () => {
    const newer = all(
      withInputs({ version: '3.6.16' }),
      withRecord({ version: '3.5.35', nextVersion: '3.6.16' }),
      withPod({ version: '3.6.16' }),
    );
    const told = all(
      withInputs({ version: '3.6.16' }),
      withRecord({ version: '3.5.35', nextVersion: '3.6.16' }),
      withPod({ version: '3.5.35' }),
    );
    const observation = healthy(2, {
      spec: { version: '3.5.35' },
      slots: {
        0: all(newer, withEndpoint(endpoint(0, { version: '3.6.16', leader: memberId(1) }))),
        1: all(told, withEndpoint(endpoint(1, { version: '3.5.35', leader: memberId(1) }))),
      },
    });
    const decision = decide({ ...observation, clusterVersion: '3.5.0' });
    assert.equal(
      decision.kind === 'act' && decision.action.kind === 'change-template' && decision.action.peer.name,
      'orders-1',
    );
  });

  test('no member starts on a minor while one that ran it is about to start on the lower (I6)', () => {
    const back = all(
      withInputs({ version: '3.5.35' }),
      withRecord({ version: '3.5.35' }),
      withPod({ version: '3.6.16', ready: false, leaving: true, upToDate: 'no' }),
      withEndpoint(endpoint(0, { version: '3.6.16' })),
    );
    const down = all(
      crashing,
      withInputs({ version: '3.5.35' }),
      withRecord({ version: '3.5.35' }),
      withPod({ version: '3.5.35' }),
    );
    const observation = healthy(2, { spec: { version: '3.6.16' }, slots: { 0: back, 1: down } });
    const decision = decide({ ...observation, clusterVersion: '3.5.0' });
    assert.equal(decision.reason, 'CorrectingTemplates');
    assert.equal(
      decision.kind === 'act' && decision.action.kind === 'change-template' && decision.action.peer.name,
      'orders-0',
    );
  });

  test('a member without a volume is healed, and not asked for ever to take another version', () => {
    const lost = (slot: Slot) => without('volume')(crashing(slot));
    const observation = healthy(3, { ...illFor('orders-2'), spec: { version: '3.6.17' }, slots: { 2: lost } });
    assert.equal(reasonOf(observation), 'ReplacingMember');
    const going = all(crashing, withVolume({ leaving: true }));
    assert.equal(
      reasonOf(healthy(3, { ...illFor('orders-2'), spec: { version: '3.6.17' }, slots: { 2: going } })),
      'ReplacingMember',
    );
  });

  test('no member leaves while another one may be about to join: one change at a time (I2)', () => {
    const joining = all(notStarted, withRecord({ state: 'joining' }));
    const observation = healthy(3, {
      spec: { replicas: 1 },
      slots: { 0: withVolume({ leaving: true }), 2: joining },
      membership: members(2),
    });
    assert.equal(outliveVolume(situate(observation)), undefined);
    const settled = { ...observation, slots: observation.slots.slice(0, 2) };
    assert.equal(reasonOf(settled), 'RemovingMember');
  });

  test('leadership may go to a member whose volume is going, where no other could lead', () => {
    const observation = healthy(2, {
      spec: { replicas: 1 },
      slots: {
        0: all(withVolume({ leaving: true }), withEndpoint(endpoint(0, { leader: memberId(1) }))),
        1: all(withRecord({ state: 'releasing' }), withEndpoint(endpoint(1, { leader: memberId(1) }))),
      },
    });
    const decision = decide(observation);
    assert.equal(decision.reason, 'RemovingMember');
    const { action } = decision.kind === 'act' ? decision : {};
    assert.equal(action?.kind === 'remove-member' && action.successor?.name, 'orders-0');
  });
});
