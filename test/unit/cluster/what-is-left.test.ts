import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { statementsFor } from '../../../reconcile/cluster/report/conditions.ts';
import { type Differences, healthy, withPod, withVolume } from './observations.ts';

const infeasible = { size: '20Gi', phase: 'NodeResizeError', message: 'no', infeasible: true } as const;
const growing = { size: '20Gi', phase: '', message: '', infeasible: false } as const;
/**
 * A smaller volume and another class than the members have, a pod without labels, and a volume that its driver cannot
 * grow.
 */
const everything: Differences = {
  spec: { storage: { size: '512Mi', storageClassName: 'other' } },
  slots: { 0: withPod({ unlabelled: true }), 1: withPod({ unlabelled: true }), 2: withVolume({ growing: infeasible }) },
};
const reasons = ['VolumeShrinkRefused', 'StorageClassRefused', 'PodUnlabelled', 'PodUnlabelled', 'VolumeCannotGrow'];

describe('what is left of a cluster that is otherwise well', () => {
  test('is told whole: one thing that wants a person hides no other', () => {
    const decision = decide(healthy(3, everything));
    assert.deepEqual(
      [decision, ...(decision.besides ?? [])].map(({ reason }) => reason),
      reasons,
    );
  });

  test('is in the conditions with each cure', () => {
    const decision = decide(healthy(3, everything));
    const facts = { serving: true, allHealthy: true, cause: '' };
    const statements = statementsFor(decision, { kind: 'none' }, facts);
    const aside = statements.find(({ type }) => type === 'SetAside');
    assert.equal(aside?.message.split('To go on: ').length, reasons.length, 'one cure each, the first is in Stalled');
    assert.match(aside?.message ?? '', /orders-1-0.*orders-2|describe pvc orders-2/);
  });

  test('is awaited only where nothing wants a person', () => {
    const waits = decide(healthy(3, { slots: { 2: withVolume({ growing }) } }));
    assert.deepEqual([waits.kind, waits.reason, waits.besides], ['wait', 'AwaitingVolumeGrowth', undefined]);
    const slots = { 1: withPod({ unlabelled: true }), 2: withVolume({ growing }) };
    assert.equal(decide(healthy(3, { slots })).reason, 'PodUnlabelled');
  });
});
