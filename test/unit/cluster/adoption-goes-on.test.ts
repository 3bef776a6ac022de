import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { takeOver } from '../../../reconcile/cluster/decide/rules/adoption/take-over.ts';
import { wantedRollback } from '../../../reconcile/cluster/know/backups/rollback.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import type { ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import { sentBy } from './actions/sent.ts';
import { approved, beside, existing, forgetting, inherited, others } from './adoptions.ts';
import {
  clusterId,
  type Differences,
  endpoint,
  healthy,
  members,
  silent,
  withEndpoint,
  without,
  withPod,
  withVolume,
} from './observations.ts';

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

  test('a learner of ours is no vote in place of one of theirs, approved or not (I13)', () => {
    const seen = approved(beside(3));
    const { membership } = seen;
    assert.ok(membership.kind === 'known');
    const list = membership.members.map((one) => ({ ...one, isLearner: one.isLearner || one.name === 'orders-2' }));
    const slots = seen.slots.map((slot) =>
      slot.ordinal === 2 ? withEndpoint(endpoint(2, { isLearner: true }))(slot) : slot,
    );
    const joining = { ...seen, slots, membership: { ...membership, members: list } };
    assert.notEqual(decide(joining).reason, 'RemovingInherited');
    assert.notEqual(takeOver(situate(joining))?.reason, 'RemovingInherited', 'nor by its rule alone');
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

  test('a removal writes the disruption budget only where a quorum of the others is another number', () => {
    const budgetAfter = (ours: number) => {
      const decision = decide(approved(beside(ours, { spec: { replicas: ours } })));
      assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-inherited', decision.reason);
      return decision.action.minAvailable;
    };
    assert.deepEqual([budgetAfter(3), budgetAfter(2)], [3, undefined]);
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

  test('all that are down are named', () => {
    const seen = beside(3);
    const down = inherited('ed2').map((one) => (one.memberId === 'ed2' ? one : { ...one, endpoint: silent }));
    const { reason, message } = decide({ ...seen, inherited: down });
    assert.equal(reason, 'InheritedMemberDown');
    assert.match(message, /^old-0 \(ed0\), old-1 \(ed1\), members of the cluster that is taken over, do not answer: /);
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

  test('a rollback that a person approved does not begin: the others need ours for a quorum', () => {
    const rollback = { clusterID: clusterId, snapshot: { object: 'gs://backups/a.db', sha256: 'ab'.repeat(32) } };
    const alone = healthy(3, { spec: { rollback } });
    const text = wantedRollback(alone)?.approval ?? '';
    const metadata = { annotations: { [annotations.rollBack]: text } };
    assert.equal(decide(healthy(3, { spec: { rollback }, metadata })).reason, 'RollingBack');
    const bootstrap = { existing };
    assert.equal(decide(beside(3, { spec: { rollback, bootstrap }, metadata })).reason, 'AdoptionNotApproved');
  });

  describe('out of space', () => {
    const shut = { maintenance: { windows: [] } };
    const twice = { quotaBackendBytes: '512Mi' } as const;
    const full = (spec: Differences['spec']) => {
      const seen = beside(3);
      const errors = ['memberID:161 alarm:NOSPACE '];
      const every = (slot: Slot) =>
        withPod({ quota: 256 * 2 ** 20 })(withEndpoint(endpoint(slot.ordinal, { leader: 'ed2', errors }))(slot));
      const { annotations: given } = approved(seen).cluster.metadata;
      return beside(3, { spec: { ...shut, ...spec }, every, ...(given && { metadata: { annotations: given } }) });
    };

    test('a larger quota waits for no window that the others must wait for', () => {
      assert.equal(decide(beside(3, { spec: { ...shut, etcd: twice } })).reason, 'AdoptionNotApproved');
      assert.partialDeepStrictEqual(decide(full({ etcd: twice })), {
        reason: 'NoSpace',
        action: { kind: 'change-template', inputs: { etcd: twice } },
      });
      assert.equal(decide(full({ etcd: twice, replicas: 0 })).kind, 'act', 'they do not stop yet');
    });

    test('without one, a person is told that the others keep their own quotas', () => {
      const decision = decide(full({}));
      assert.deepEqual([decision.kind, decision.reason], ['refuse', 'NoSpace']);
      assert.match(decision.message, /while old-0, old-1, old-2 have not left/);
      assert.match(decision.kind === 'refuse' ? decision.cure : '', /alarm disarm/);
    });
  });

  test('no quorum answers: a recovery is offered once a person approves that the others are gone', () => {
    const last = [...members(3).members, ...others()];
    const membership = { kind: 'unknown', cause: 'no quorum answers', last } as const;
    const seen = { ...beside(3, { membership }), inherited: [] };
    const lost = {
      ...seen,
      slots: seen.slots.map((slot) => (slot.ordinal === 0 ? slot : withVolume({ lost: true })(slot))),
    };
    const decision = decide(lost);
    assert.ok(decision.kind === 'refuse');
    assert.deepEqual([decision.reason, decision.approval?.annotation], ['ExistingUnreachable', annotations.adopt]);
    const after = decide(approved(lost));
    assert.ok(after.kind === 'refuse');
    assert.deepEqual([after.reason, after.approval?.annotation], ['QuorumLost', annotations.recoverQuorum]);
    assert.equal(decide(approved(forgetting(lost))).reason, 'QuorumLost');
    assert.equal(decide(forgetting(lost)).reason, 'ExistingUnreachable', 'the commit alone says nothing of them');
  });
});
