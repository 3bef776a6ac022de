import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../manifests/kube-types.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { DiskView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { podView } from '../../../reconcile/cluster/observe/slots.ts';
import { all, healthy, members, silent, withEndpoint, withVolume } from './observations.ts';

/** Of kube-scheduler 1.36, about volumes that are sound on nodes that are there. */
const sentences = [
  "0/2 nodes are available: 2 Insufficient cpu, 2 node(s) didn't match PersistentVolume's node affinity.",
  "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity.",
];

const present: DiskView = { pv: 'pv-1', handle: 'disk-7', state: 'present', homes: 'some' };

function homeless(message: string, disk: DiskView) {
  const pod: Pod = {
    metadata: { name: 'orders-1-0', uid: 'p', creationTimestamp: '2026-01-02T01:00:00Z' },
    spec: { containers: [] },
    status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
  };
  return all((slot: Slot) => ({ ...slot, pod: podView(pod, undefined) }), withVolume({ disk }), withEndpoint(silent));
}

const status = {
  observedGeneration: 3,
  members: [0, 1, 2].map((ordinal) => ({
    name: `orders-${ordinal}`,
    healthy: ordinal === 0,
    ...(ordinal > 0 && { unhealthySince: '2026-01-02T01:00:00Z' }),
  })),
};
const noQuorum = { kind: 'unknown', cause: 'no quorum', last: members(3).members } as const;

const decisionOn = (message: string, disk: DiskView) =>
  decide(healthy(3, { slots: { 1: homeless(message, disk) }, status }));
const decisionOnTwo = (message: string, disk: DiskView) =>
  decide(
    healthy(3, { slots: { 1: homeless(message, disk), 2: homeless(message, disk) }, status, membership: noQuorum }),
  );

describe('a pod that has found no node for two hours', () => {
  for (const message of sentences) {
    test(`costs no member while a node has its volume: ${message.slice(27, 60)}`, () => {
      assert.equal(decisionOn(message, present).reason, 'PodUnscheduled');
    });

    test(`is no lost quorum while nodes have the volumes: ${message.slice(27, 60)}`, () => {
      assert.equal(decisionOnTwo(message, present).reason, 'PodUnscheduled');
    });

    for (const [what, disk] of [
      ['its PersistentVolume', { ...present, state: 'unknown', homes: 'unknown' }],
      ['its nodes', { ...present, homes: 'unknown' }],
    ] as const) {
      test(`costs nothing where ${what} may not be read: ${message.slice(27, 60)}`, () => {
        assert.equal(decisionOn(message, disk).reason, 'PodUnscheduled');
        assert.equal(decisionOnTwo(message, disk).reason, 'PodUnscheduled');
      });
    }
  }

  for (const [what, disk, words] of [
    ['its PersistentVolume is gone', { ...present, state: 'gone', homes: 'unknown' }, /PersistentVolume pv-1 is gone/],
    ['no node is left that has it', { ...present, homes: 'none' }, /no node is left that has PersistentVolume pv-1/],
  ] as const) {
    test(`is replaced where ${what}, whatever the scheduler says`, () => {
      const decision = decisionOn('0/1 nodes are available: 1 Too many pods.', disk);
      assert.equal(decision.reason, 'ReplacingMember');
      assert.match(decision.message, words);
    });

    test(`and so is the other one: the quorum is lost where ${what}`, () => {
      const decision = decisionOnTwo('0/1 nodes are available: 1 Too many pods.', disk);
      assert.equal(decision.reason, 'QuorumLost');
      assert.match(decision.message, words);
    });
  }
});
