import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeState } from '../../../../manifests/api/etcd-peer.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import { recordOf } from '../../../../reconcile/cluster/know/life.ts';
import type { Slot } from '../../../../reconcile/cluster/know/observation.ts';
import {
  all,
  clusterId,
  fresh,
  healthy,
  memberId,
  members,
  recordFor,
  silent,
  unsealed,
  withEndpoint,
  without,
  withRecord,
  withVolume,
} from '../observations.ts';
import { assertStopped, leftBy, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

const names = ['orders-0', 'orders-1', 'orders-2'];
const volumes = names.map((name, ordinal) => ({ name, uid: `volume-${ordinal}` }));
const list = members(3);
const two = { ...list, members: list.members.slice(0, 2) };
const unbound = withVolume({ bound: false });
const settingsThatSay = (initialCluster: string) => (slot: Slot) =>
  slot.configMap ? { ...slot, configMap: { ...slot.configMap, initialCluster } } : slot;

describe('what a member had that was removed', () => {
  const action: ActionOf<'retire-member'> = {
    kind: 'retire-member',
    name: 'orders-2',
    clusterId,
    peer: { name: 'orders-2', uid: 'peer-2' },
    volume: { name: 'orders-2', uid: 'volume-2', memberId: memberId(2), state: 'released', keep: false },
  };

  test('goes once the list lacks the member, the peer last', () => {
    const { writes } = sentBy(action, healthy(3, { membership: two }));
    assert.deepEqual(writes, ['writeRecord orders-2', 'deleteVolume orders-2', 'deletePeer orders-2']);
  });

  test('stays while the list has the member, by its ID or by its address (I4)', () => {
    assertStopped(sentBy(action, healthy(3)));
    const [url] = list.members[1]?.peerURLs ?? [];
    assertStopped(sentBy({ ...action, ...(url !== undefined && { url }) }, healthy(3, { membership: two })));
  });
});

describe('volumes that are to be deleted', () => {
  const action = { kind: 'delete-volumes', volumes: volumes.slice(1, 2) } as const;
  const metadata = { deletionTimestamp: '2026-01-02T03:00:00Z' };

  test('go while the cluster lives only if they were never bound (I4)', () => {
    assertStopped(sentBy(action, healthy(3)));
    assert.deepEqual(sentBy(action, healthy(3, { slots: { 1: unbound } })).writes, ['deleteVolume orders-1']);
  });

  test('go with the cluster only once no pod has them (I4)', () => {
    assertStopped(sentBy(action, healthy(3, { metadata })));
    const stopped = healthy(3, { metadata, slots: { 1: without('pod') } });
    assert.deepEqual(sentBy(action, stopped).writes, ['deleteVolume orders-1']);
  });
});

test('a volume that has been bound since, or sealed, is not made anew', () => {
  const [volume = assert.fail()] = volumes;
  const action = { kind: 'replace-unbound-volume', volume, storage: { size: '2Gi' } } as const;
  const replacing = (change: (slot: Slot) => Slot) => sentBy(action, healthy(3, { slots: { 0: change } }));
  assertStopped(replacing(unsealed));
  assertStopped(replacing(unbound));
  assert.deepEqual(replacing(all(unsealed, unbound)).writes.slice(0, 2), [
    'markReplacing orders-0',
    'deleteVolume orders-0',
  ]);
});

test('members are put to rest only when every volume says so', () => {
  const statefulSets = names.map((name, ordinal) => ({ name, uid: `set-${ordinal}` }));
  const { writes } = sentBy({ kind: 'hibernate-members', volumes, statefulSets }, healthy(3));
  assert.deepEqual(writes, [
    ...names.map((name) => `writeRecord ${name}`),
    ...names.map((name) => `deleteStatefulSet ${name}`),
  ]);
});

describe('a volume that is told to sleep', () => {
  const [volume = assert.fail()] = volumes;
  const action = { kind: 'hibernate-members', volumes: [volume], statefulSets: [] } as const;
  const sleeping = (change: (slot: Slot) => Slot) => sentBy(action, healthy(3, { slots: { 0: change } }));

  test('is the one that was looked at', () => {
    assertStopped(sleeping(withVolume({ uid: 'made anew' })));
  });

  test('is not told again what it says already', () => {
    const { writes, ended } = sleeping(withRecord({ state: 'hibernating' }));
    assert.deepEqual({ writes, ended }, { writes: [], ended: 'done' });
  });

  test('is one of a member that runs', () => {
    assertStopped(sleeping(withRecord({ state: 'releasing' })));
  });
});

test('every volume says that it is sealed before any ConfigMap follows (I5)', () => {
  const sealed = names.map((name, ordinal) => ({ name, memberId: memberId(ordinal), version: '3.6.16' }));
  const { writes, ended } = sentBy(
    { kind: 'seal-members', clusterId, members: sealed },
    healthy(3, { every: unsealed }),
  );
  assert.deepEqual(
    { writes: writes.slice(0, 3), ended },
    { writes: names.map((name) => `writeRecord ${name}`), ended: 'done' },
  );
  assert.deepEqual(
    writes.slice(3),
    names.map((name) => `writeConfigMap ${name}`),
  );
});

test('a volume is sealed from states in which its member first serves, and from no other (I5)', () => {
  const [first = assert.fail()] = names;
  const sealed = { name: first, memberId: memberId(0), version: '3.6.16' };
  const sealing = (state: VolumeState) =>
    sentBy(
      { kind: 'seal-members', clusterId, members: [sealed] },
      healthy(3, { slots: { 0: all(unsealed, withRecord({ state })) } }),
    );
  for (const state of ['bootstrapping', 'joining', 'recovered', 'restored'] as const)
    assert.equal(sealing(state).writes[0], 'writeRecord orders-0', state);
  for (const state of ['released', 'recovering', 'restoring', 'superseded', 'hibernating'] as const)
    assertStopped(sealing(state));
});

test('a volume that is sealed under a member that was told a higher version says so (I6)', () => {
  const sealed = { name: 'orders-0', memberId: memberId(0), version: '3.6.16' };
  const told = all(unsealed, withRecord({ version: '3.7.3' }));
  const left = leftBy({ kind: 'seal-members', clusterId, members: [sealed] }, healthy(3, { slots: { 0: told } }));
  assert.partialDeepStrictEqual(recordOf(left.slots[0] ?? {}), { version: '3.6.16', nextVersion: '3.7.3' });
});

test('what may have run on a volume counts as run before it gets another peer (I6)', () => {
  const left = withRecord({ nextVersion: '3.7.3' });
  const observation = healthy(1, { slots: { 0: all(left, without('peer', 'statefulSet', 'pod')) } });
  const { inputs } = healthy(1).slots[0]?.peer ?? assert.fail();
  const members = [{ name: 'orders-0', record: recordFor(0, 1) }];
  const action = { kind: 'prepare-members', members, inputs } as const;
  assert.deepEqual(sentBy(action, observation).writes.slice(0, 3), [
    'makeVolume orders-0',
    'writeRecord orders-0',
    'makePeer orders-0',
  ]);
  const { version, nextVersion } = recordOf(leftBy(action, observation).slots[0] ?? {}) ?? assert.fail();
  assert.deepEqual({ version, nextVersion }, { version: '3.7.3', nextVersion: undefined });
});

describe('a member is started', () => {
  const action = { kind: 'start-members', peers: ['orders-1'] } as const;
  const stopped = all(without('statefulSet', 'pod'), withEndpoint(silent));
  const starting = (change: (slot: Slot) => Slot) => sentBy(action, healthy(3, { slots: { 1: all(stopped, change) } }));

  test('where its bootstrap settings say what its volume says, and only there (I5)', () => {
    assert.deepEqual(starting((slot) => slot).writes, ['makeStatefulSet orders-1']);
    assertStopped(starting(settingsThatSay('orders-1=http://elsewhere:2380')));
    assertStopped(starting(unsealedVolume));
  });

  test('for the first time only once its volume says that it may have been (I5)', () => {
    const { writes } = starting(all(unsealed, fresh));
    assert.deepEqual(writes, ['writeRecord orders-1', 'makeStatefulSet orders-1']);
  });
});

test('a learner is put on the list only once its volume has the list as it will be', () => {
  const joining = all(withRecord({ state: 'joining', initialCluster: [] }), without('pod'), withEndpoint(silent));
  const [url = ''] = list.members[2]?.peerURLs ?? [];
  const action = { kind: 'add-learner', name: 'orders-2', url, clusterId } as const;
  const { writes } = sentBy(action, healthy(3, { membership: two, slots: { 2: joining } }));
  assert.deepEqual(writes, [
    'writeRecord orders-2',
    'touchVolume orders-0',
    'touchVolume orders-1',
    'addToList orders-2',
  ]);
});

/** Its ConfigMap says that it is sealed, and its volume that it is not. */
function unsealedVolume(slot: Slot): Slot {
  const { volume } = unsealed(slot);
  return volume ? { ...slot, volume } : slot;
}
