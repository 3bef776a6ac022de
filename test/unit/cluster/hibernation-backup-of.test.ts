import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { hibernationBackupOf } from '../../../reconcile/cluster/know/backups/hibernation-backup.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  clusterId,
  healthy,
  noQuorum,
  recordFor,
  silent,
  withEndpoint,
  without,
  withPod,
  withRecord,
} from './observations.ts';

const backup = { name: 'orders-hibernation', uid: 'u1', endedAt: '2026-01-02T03:04:05Z', revision: 10 };
const asleep = all(
  without('pod', 'statefulSet'),
  withEndpoint(silent),
  withRecord({ state: 'hibernating', hibernationBackup: backup }),
);

type Changes = Readonly<Record<number, (slot: Slot) => Slot>>;

function slotsWith(changes: Changes): readonly Slot[] {
  return healthy(3).slots.map((slot) => (changes[slot.ordinal] ?? asleep)(slot));
}

function of(changes: Changes = {}) {
  return hibernationBackupOf(slotsWith(changes));
}

describe('the backup that a cluster was put to sleep on', () => {
  test('is what all volumes remember while nothing runs', () => {
    assert.deepEqual(of(), { ...backup, clusterId });
  });

  test('is none where the volumes are of two etcd clusters, or do not say of which', () => {
    assert.equal(of({ 1: all(asleep, withRecord({ clusterId: 'dead' })) }), undefined);
    const { clusterId: _, ...unnamed } = recordFor(0, 3);
    const record = { ...unnamed, state: 'hibernating', hibernationBackup: backup } as const;
    const anonymous = (slot: Slot): Slot => ({
      ...asleep(slot),
      ...(slot.volume && { volume: { ...slot.volume, record: { kind: 'valid', record } } }),
    });
    assert.equal(of({ 0: anonymous, 1: anonymous, 2: anonymous }), undefined);
  });

  test('is none where a pod is left, of whatever member: it may still write', () => {
    assert.equal(of({ 2: all(withEndpoint(silent), withRecord({ state: 'superseded' })) }), undefined);
  });

  test('is none where a pod alone is left, or what would make one', () => {
    const remembers = withRecord({ state: 'hibernating', hibernationBackup: backup });
    for (const left of [without('pod'), without('statefulSet')])
      assert.equal(of({ 2: all(left, withEndpoint(silent), remembers) }), undefined);
  });

  test('is none where volumes remember different ones, or one of them is awake', () => {
    const another = { ...backup, revision: 11 };
    assert.equal(of({ 2: all(asleep, withRecord({ hibernationBackup: another })) }), undefined);
    assert.equal(of({ 2: all(asleep, withRecord({ state: 'sealed' })) }), undefined);
  });

  test('does not depend on a volume that was left behind, nor on a member whose volume is gone', () => {
    const behind = all(asleep, withRecord({ state: 'superseded', clusterId: 'dead' }));
    assert.deepEqual(of({ 2: behind }), { ...backup, clusterId });
    assert.deepEqual(of({ 2: all(asleep, without('volume')) }), { ...backup, clusterId });
  });
});

describe('a cluster that is to hibernate', () => {
  const seen = (replicas: number, changes: Changes) => ({
    ...healthy(3, { spec: { replicas }, membership: noQuorum('no member runs') }),
    slots: slotsWith(changes),
  });

  test('tells a person of a pod that does not end, as on a dead node', () => {
    const endsBy = new Date('2026-01-01T00:00:00Z');
    const ending = all(
      without('statefulSet'),
      withPod({ leaving: true, ready: false, endsBy }),
      withEndpoint(silent),
      withRecord({ state: 'hibernating', hibernationBackup: backup }),
    );
    const decision = decide(seen(0, { 1: ending }));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'PodStays']);
  });
});
