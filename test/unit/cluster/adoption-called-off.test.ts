import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { approved, before, beside, forgetting, others } from './adoptions.ts';
import { noQuorum, silent, withEndpoint, without, type withPod, withRecord, withVolume } from './observations.ts';

describe('a deletion', () => {
  const deletionTimestamp = '2026-01-02T03:00:00Z';

  test('has members of ours leave first, the highest ordinal before the others', () => {
    const decision = decide(beside(3, { metadata: { deletionTimestamp, finalizers: [volumesFinalizer] } }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-member', decision.reason);
    assert.deepEqual([decision.reason, decision.action.name], ['LeavingExisting', 'orders-2']);
  });

  test('goes on with the removal that was begun before it begins another', () => {
    const metadata = { deletionTimestamp, finalizers: [volumesFinalizer] };
    const decision = decide(beside(3, { metadata, slots: { 0: withRecord({ state: 'releasing' }) } }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-member', decision.reason);
    assert.equal(decision.action.name, 'orders-0');
  });

  test('has a member leave that hears a leader, also where its own health is in doubt', () => {
    const metadata = { deletionTimestamp, finalizers: [volumesFinalizer] };
    const ill = (slot: Slot) => ({ ...slot, ...(slot.pod && { pod: { ...slot.pod, ready: false } }) });
    const decision = decide(beside(1, { metadata, every: ill }));
    assert.deepEqual([decision.kind, decision.reason], ['act', 'LeavingExisting']);
  });

  test('has a member leave whose EtcdPeer is lost: its vote is on the list', () => {
    const metadata = { deletionTimestamp, finalizers: [volumesFinalizer] };
    const decision = decide(beside(1, { metadata, every: without('peer') }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-member', decision.reason);
    assert.deepEqual([decision.reason, decision.action.name], ['LeavingExisting', 'orders-0']);
  });

  test('goes on where none of ours is on the list of the others any more', () => {
    const seen = beside(1, { metadata: { deletionTimestamp, finalizers: [volumesFinalizer] } });
    const { membership } = seen;
    assert.ok(membership.kind === 'known');
    assert.equal(decide({ ...seen, membership: { ...membership, members: others() } }).reason, 'LettingGo');
  });

  test('waits for a voter that has a name like ours, and an address that is not behind our Service', () => {
    const {
      membership,
      inherited: _,
      ...seen
    } = beside(1, {
      spec: { bootstrap: {} },
      metadata: { deletionTimestamp, finalizers: [volumesFinalizer] },
    });
    assert.ok(membership.kind === 'known');
    const list = (peerURL: string) => {
      const [like] = others({ name: 'orders-7', peerURLs: [peerURL] });
      assert.ok(like);
      return { ...seen, membership: { ...membership, members: [...membership.members.slice(0, 1), like] } };
    };
    assert.equal(decide(list('http://orders-7-0.orders-peers.elsewhere.svc:2380')).reason, 'AdoptionUnfinished');
    assert.equal(decide(list('http://orders-7-0.orders-peers.shop.svc:2380')).reason, 'LettingGo', 'it lost its peer');
  });

  test('waits while no quorum of all is healthy: what leaves could be needed for one', () => {
    const down = {
      every: (slot: Parameters<ReturnType<typeof withPod>>[0]) => without('pod')(withEndpoint(silent)(slot)),
      metadata: { deletionTimestamp, finalizers: [volumesFinalizer] },
    };
    const decision = decide(beside(3, down));
    assert.deepEqual([decision.kind, decision.reason], ['wait', 'AdoptionUnfinished']);
  });

  test('waits while a quorum of all is healthy, and of those that are left none would be', () => {
    const metadata = { deletionTimestamp, finalizers: [volumesFinalizer] };
    const seen = beside(1, { metadata });
    const { membership, inherited: all = [] } = seen;
    assert.ok(membership.kind === 'known');
    const members = membership.members.filter(({ id }) => id !== 'ed0');
    const inherited = all
      .filter(({ memberId }) => memberId !== 'ed0')
      .map((one) => (one.memberId === 'ed1' ? { ...one, endpoint: silent } : one));
    const decision = decide({ ...seen, membership: { ...membership, members }, inherited });
    assert.deepEqual([decision.kind, decision.reason], ['wait', 'AdoptionUnfinished']);
  });

  for (const [what, every] of [
    ['goes on with a removal that was begun', withRecord({ state: 'releasing' })],
    ['has a member leave whose volume is lost', withVolume({ lost: true })],
  ] as const) {
    test(`${what}, where two are left and it counts as ill`, () => {
      const metadata = { deletionTimestamp, finalizers: [volumesFinalizer] };
      const seen = beside(1, { metadata, every });
      const { membership, inherited = [] } = seen;
      assert.ok(membership.kind === 'known');
      const left = membership.members.filter(({ id }) => id !== 'ed0' && id !== 'ed1');
      const decision = decide({
        ...seen,
        membership: { ...membership, members: left },
        inherited: inherited.filter(({ memberId }) => memberId === 'ed2'),
      });
      assert.ok(decision.kind === 'act' && decision.action.kind === 'remove-member', decision.reason);
      assert.equal(decision.reason, 'LeavingExisting');
    });
  }

  test('waits where the list is unknown, until a person approves that the others are gone for good', () => {
    const unknown = {
      membership: noQuorum('no member runs'),
      metadata: { deletionTimestamp, finalizers: [volumesFinalizer] },
    };
    const seen = { ...beside(3, unknown), inherited: [] };
    assert.equal(decide(seen).reason, 'AdoptionUnfinished');
    const forgetful = forgetting(seen);
    assert.equal(decide(forgetful).reason, 'AdoptionUnfinished', 'a commit that removes the field is no such approval');
    assert.equal(decide(approved(forgetful)).reason, 'LettingGo');
  });

  test('is held from the beginning, also where the policy keeps the volumes', () => {
    const decision = decide({
      ...before(),
      cluster: { ...before().cluster, metadata: { ...before().cluster.metadata, finalizers: [] } },
    });
    assert.ok(decision.kind === 'act' && decision.action.kind === 'set-finalizer' && decision.action.present);
  });
});
