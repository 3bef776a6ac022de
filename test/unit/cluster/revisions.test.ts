import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { revisionsAhead } from '../../../manifests/render/revisions.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { wantedOf } from '../../../reconcile/cluster/know/backups/restore.ts';
import { beginningOf } from '../../../reconcile/cluster/know/backups/revisions.ts';
import { wantedRollback } from '../../../reconcile/cluster/know/backups/rollback.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { clusterId, healthy, unborn, withRecord } from './observations.ts';

const snapshot = { object: 'gs://backups/orders/a.db', revision: 500 };
const wanted = wantedOf(snapshot, 'spec.rollback.snapshot');
const unnamed = wantedOf({ object: snapshot.object }, 'spec.rollback.snapshot');

const at = (revision: number) => (slot: Slot) =>
  slot.endpoint.kind === 'known'
    ? { ...slot, endpoint: { ...slot.endpoint, status: { ...slot.endpoint.status, revision: BigInt(revision) } } }
    : slot;
const silent = (slot: Slot) => ({ ...slot, endpoint: { kind: 'unknown', cause: 'it does not answer' } as const });
const recorded = (record: Partial<VolumeRecord>) => (slot: Slot) => withRecord(record)(slot);
const newestBackup = { name: 'nightly', takenAt: '2026-01-01T00:00:00Z', verified: true, snapshot, revision: 6_000 };
const seen = (...changes: readonly ((slot: Slot) => Slot)[]) =>
  healthy(3, { slots: Object.fromEntries(changes.map((change, index) => [index, change])) });

describe('a rollback begins above all that clients can have seen', () => {
  for (const [what, observation, known] of [
    ['the highest revision of any member', seen(at(700), at(9_000), at(800)), 9_000],
    [
      'the floor of its volumes, while no member answers',
      seen(recorded({ revisionFloor: 7 * revisionsAhead }), silent, silent),
      7 * revisionsAhead,
    ],
    ['the revision of the snapshot, where that is higher', seen(at(1), at(1), at(1)), 500],
    [
      'that of the status, where no volume is left',
      healthy(3, { status: { observedGeneration: 1, revisionFloor: 3 * revisionsAhead } }),
      3 * revisionsAhead,
    ],
    ['that of the newest backup', { ...seen(at(1)), newestBackup }, 6_000],
    [
      'no floor of a volume that an attempt prepared',
      seen(
        at(600),
        recorded({
          state: 'restoring',
          gaveUp: [clusterId],
          revisionFloor: 8 * revisionsAhead,
          recovery: { id: '0123456789ab', attempt: 1, lastSeenOn: {} },
        }),
        at(1),
      ),
      600,
    ],
  ] as const)
    test(`it counts ${what}`, () => {
      const floor = known + revisionsAhead;
      assert.deepEqual(beginningOf(wanted, true, observation), { floor, bump: floor - 500 });
      assert.equal(beginningOf(unnamed, true, observation).bump, beginningOf(unnamed, true, observation).floor);
    });

  test('a birth has no life before it: it keeps a bound over its snapshot', () => {
    assert.deepEqual(beginningOf(wanted, false, seen(at(9_000))), { bump: revisionsAhead });
  });
});

describe('where revisions would not stay below 2^53', () => {
  const tooHigh = recorded({ revisionFloor: 2 ** 53 - 2 * revisionsAhead });
  const fits = recorded({ revisionFloor: 2 ** 53 - 2 * revisionsAhead - 1 });
  const rollback = { clusterID: clusterId, snapshot };
  const approval = wantedRollback(healthy(3, { spec: { rollback } }))?.approval ?? '';
  const asked = (change: (slot: Slot) => Slot, given?: string) =>
    healthy(3, {
      spec: { rollback },
      slots: { 0: change },
      ...(given !== undefined && { metadata: { annotations: { [annotations.rollBack]: given } } }),
    });
  const refusals = (observation: Observation) => situate(observation).effective.refusals.map(({ reason }) => reason);

  test('a rollback is refused before its approval is asked for, and does not begin with one', () => {
    assert.deepEqual(refusals(asked(tooHigh)), ['RevisionsExhausted']);
    assert.deepEqual(refusals(asked(fits)), ['RollbackNotApproved']);
    assert.notEqual(decide(asked(tooHigh, approval)).reason, 'RollingBack');
    assert.equal(decide(asked(fits, approval)).reason, 'RollingBack');
  });

  test('a birth whose snapshot says so gets no Job', () => {
    const bootstrap = (revision: number) => ({ bootstrap: { snapshot: { ...snapshot, revision } } });
    for (const [revision, restores] of [
      [2 ** 53 - 2 * revisionsAhead, false],
      [2 ** 53 - 2 * revisionsAhead - 1, true],
    ] as const) {
      const decision = decide(unborn(3, { spec: bootstrap(revision) }));
      assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members');
      assert.equal(decision.action.starts?.restores !== undefined, restores);
    }
  });
});
