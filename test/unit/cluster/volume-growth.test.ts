import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import type { GrowthView } from '../../../reconcile/cluster/know/observation.ts';
import { growthOf } from '../../../reconcile/cluster/know/volumes/volume-growth.ts';
import { healthy, withVolume } from './observations.ts';

function claim(requested: string | undefined, status: PersistentVolumeClaim['status']): PersistentVolumeClaim {
  return {
    metadata: { name: 'orders-0' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: requested === undefined ? {} : { requests: { storage: requested } },
    },
    ...(status && { status }),
  };
}

const condition = (type: string, message = '') => ({ type, status: 'True' as const, message });
const pending = (phase: string, message = '', infeasible = false): GrowthView => ({ phase, message, infeasible });

describe('a PVC', () => {
  const cases: readonly (readonly [string, PersistentVolumeClaim, GrowthView | undefined])[] = [
    ['that has what it asks for', claim('1Gi', { capacity: { storage: '1Gi' } }), undefined],
    ['that was given more, as drivers round up', claim('1500M', { capacity: { storage: '2Gi' } }), undefined],
    ['whose sizes are written in two ways', claim('1024Mi', { capacity: { storage: '1Gi' } }), undefined],
    ['that is not bound yet', claim('1Gi', { phase: 'Pending' }), undefined],
    ['without a status', claim('1Gi', undefined), undefined],
    ['that asks for nothing', claim(undefined, { capacity: { storage: '1Gi' } }), undefined],
    ['that nobody has looked at', claim('2Gi', { capacity: { storage: '1Gi' } }), pending('')],
    [
      'whose file system is to follow',
      claim('2Gi', { capacity: { storage: '1Gi' }, conditions: [condition('FileSystemResizePending', 'start a pod')] }),
      pending('FileSystemResizePending', 'start a pod'),
    ],
    [
      'whose driver has an error, and goes on',
      claim('2Gi', {
        capacity: { storage: '1Gi' },
        conditions: [condition('ControllerResizeError', 'quota')],
        allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      }),
      pending('ControllerResizeError', 'quota'),
    ],
    [
      'whose driver has given up',
      claim('2Gi', {
        capacity: { storage: '1Gi' },
        conditions: [condition('NodeResizeError', 'no room')],
        allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' },
      }),
      pending('NodeResizeInfeasible', 'no room', true),
    ],
    [
      'with conditions that tell of something else',
      claim('2Gi', { capacity: { storage: '1Gi' }, conditions: [condition('ModifyingVolume', 'a class')] }),
      pending(''),
    ],
  ];
  for (const [name, given, expected] of cases) {
    test(name, () => assert.deepEqual(growthOf(given), expected));
  }
});

test('who grows is named, with the phase that Kubernetes tells', () => {
  const growing = withVolume({ growing: pending('FileSystemResizePending') });
  const decision = decide(healthy(3, { slots: { 0: growing, 2: withVolume({ growing: pending('') }) } }));
  assert.equal(decision.message, 'the storage driver is growing orders-0 (FileSystemResizePending), orders-2');
});

test('a plan takes a driver at its word, and ends with the cure where it has given up', () => {
  const waiting = plan(healthy(3, { slots: { 1: withVolume({ growing: pending('Resizing') }) } }));
  assert.equal(waiting.end.kind, 'done');
  const stuck = plan(healthy(3, { slots: { 1: withVolume({ growing: pending('NodeResizeInfeasible', '', true) }) } }));
  assert.equal(stuck.end.kind, 'refused');
});
