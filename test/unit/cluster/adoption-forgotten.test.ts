import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { networkPolicy } from '../../../manifests/render/network-policy.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { planChange } from '../../../reconcile/cluster/foresee/change.ts';
import type { Action } from '../../../reconcile/cluster/know/action.ts';
import { inheritedIn } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import { existingKept } from '../../../reconcile/cluster/know/adoption/kept.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { approved, before, beside, existing, forgetting, inherited, memberIDs } from './adoptions.ts';
import { members, noQuorum } from './observations.ts';

const kept = (seen: Observation) => statusFor(situate(seen), decide(seen), { kind: 'none' }).existing;
const refusals = (seen: Observation) => situate(seen).effective.refusals.map(({ reason, field }) => [reason, field]);

describe('what the spec says of the cluster that is taken over', () => {
  test('is kept in the status from the first member that joins to the last of the others', () => {
    assert.deepEqual(kept(before()), existing);
    assert.deepEqual(kept(beside(1)), existing);
    const { membership, inherited: _, ...over } = beside(3);
    assert.deepEqual(kept({ ...over, membership: members(3) }), undefined);
    assert.equal(membership.kind, 'known');
  });

  test('is known to the lease by which the first member joins, and to the one that finishes it', () => {
    const decision = decide(before());
    assert.ok(decision.kind === 'act');
    const { action } = decision;
    assert.deepEqual(existingKept(situate(before()), action), existing);
    const died = { ...forgetting(before()), lease: { kind: 'abandoned', holder: 'shop/tick', action } } as const;
    const next = decide(died);
    assert.ok(next.kind === 'act' && next.action === action, 'the birth is finished as it was recorded');
    assert.deepEqual(existingKept(situate(died), next.action), existing);
  });

  test('is not kept where nothing of ours has joined: another wish may take its place', () => {
    assert.equal(kept(before({ version: '3.7.3' })), undefined, 'it does not fit');
    assert.equal(kept(forgetting(before({ version: '3.7.3' }), { existing })), undefined);
  });

  test('names none of the others where the list is unknown', () => {
    const membership = noQuorum('no member runs');
    assert.deepEqual(inheritedIn({ membership, inherited: inherited('ed2') }), []);
  });

  test('stays where the list is unknown, and is not made up there', () => {
    const unknown = { ...beside(1, { membership: noQuorum('no member runs') }), inherited: [] };
    assert.equal(kept(unknown), undefined);
    assert.deepEqual(kept(forgetting(unknown)), existing);
  });
});

describe('a commit that removes members of others that vote beside ours', () => {
  const commits: Readonly<Record<string, EtcdClusterSpec['bootstrap']>> = {
    'the field goes': {},
    'another cluster takes its place': { existing: { ...existing, clusterID: 'beef' } },
    'one of them is left out': { existing: { ...existing, memberIDs: memberIDs.slice(1) } },
  };
  for (const [what, bootstrap] of Object.entries(commits)) {
    test(`${what}: it goes on as before, and names the field`, () => {
      for (const seen of [beside(1, { spec: { replicas: 3 } }), beside(3), approved(beside(3))]) {
        const forgetful = forgetting(seen, bootstrap);
        assert.deepEqual(decide(forgetful), decide(seen));
        assert.deepEqual(refusals(forgetful), [['ExistingRemoved', 'spec.bootstrap.existing']]);
        assert.deepEqual(kept(forgetful), existing);
      }
    });
  }

  test('is told by its plan, with what to write again', () => {
    const seen = forgetting(beside(3), { existing });
    const { end, outcome } = planChange(seen, { spec: { ...seen.cluster.spec, bootstrap: {} }, metadata: {} });
    assert.equal(end.reason, 'AdoptionNotApproved');
    const [told] = situate(outcome).effective.refusals;
    assert.match(told?.cure ?? '', /clusterID c1c1 and memberIDs ed0, ed1, ed2;.*delete EtcdCluster orders/);
  });

  test('leaves the door of the peer port open for them', () => {
    const { cluster } = forgetting(beside(3));
    assert.deepEqual(networkPolicy(cluster).spec, networkPolicy(beside(3).cluster).spec);
  });

  test('may change how they are reached', () => {
    const moved = { ...existing, podLabels: { app: 'moved' }, clientPort: 12379 };
    const seen = forgetting(beside(3), { existing: moved });
    assert.deepEqual([refusals(seen), kept(seen)], [[], moved]);
  });

  test('is as it says when they have left', () => {
    const { inherited: _, ...over } = forgetting(beside(3));
    const seen = { ...over, membership: members(3) };
    assert.deepEqual([refusals(seen), kept(seen)], [[], undefined]);
  });
});

test('what is taken over is kept from the step by which the first of ours joins, and not before', () => {
  const observation = before();
  const { life } = situate(observation);
  assert.equal(life.stage, 'unborn');
  const decision = decide(observation);
  assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members', decision.reason);
  const { action } = decision;
  const keptFor = (taken: Action | undefined) => existingKept({ ...observation, life }, taken)?.clusterID;
  assert.equal(keptFor(action), existing.clusterID);
  const members = action.members.map(({ record, ...member }) => ({
    ...member,
    record: { ...record, state: 'bootstrapping' as const },
  }));
  assert.deepEqual([keptFor(undefined), keptFor({ ...action, members })], [undefined, undefined]);
  assert.equal(keptFor({ kind: 'start-members', peers: ['orders-0'] }), undefined);
});
