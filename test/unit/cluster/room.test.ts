import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/observe/room.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { fleet, fleetUid, objectsOf } from './fleet-objects.ts';
import {
  all,
  type Differences,
  endpoint,
  healthy,
  silent,
  withEndpoint,
  withInputs,
  without,
  withVolume,
} from './observations.ts';

const at =
  (...all: ClusterObjects[]) =>
  (limit?: number | string) => [...clustersWithoutRoom(all, [fleet(limit)]).keys()];

describe('a commit that changes the configuration of a whole fleet', () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => objectsOf(name, { behind: 3 }));

  test('begins with as many clusters as may be at it, the first by name', () => {
    assert.deepEqual(at(...all)(2), ['c', 'd', 'e']);
    assert.deepEqual(at(...all)('40%'), ['c', 'd', 'e']);
    assert.deepEqual(at(...all)('100%'), []);
  });

  test('moves at all, however small the share', () => {
    assert.deepEqual(at(...all)('1%'), ['b', 'c', 'd', 'e']);
    assert.deepEqual(at(...all)(), ['b', 'c', 'd', 'e']);
  });

  test('waits for one that is in the middle of it, whatever its name', () => {
    const half = objectsOf('z', { behind: 1 });
    assert.deepEqual(at(...all, half)(1), ['a', 'b', 'c', 'd', 'e']);
  });

  test('waits for a member that was started anew and is not back', () => {
    const away = objectsOf('z', {
      status: {
        history: [
          {
            at: '2026-01-01T00:00:00Z',
            action: 'restart-member',
            reason: 'FinishingRolling',
            message: '',
            outcome: 'acted',
          },
        ],
      },
    });
    assert.deepEqual(at(...all, away)(1), ['a', 'b', 'c', 'd', 'e']);
  });

  test('does not wait for one whose members are all back, whatever else it needs', () => {
    const entry = { at: '2026-01-01T00:00:00Z', action: 'restart-member', message: '', outcome: 'acted' as const };
    const history = [{ ...entry, reason: 'UpgradingMember' }];
    assert.deepEqual(at(objectsOf('a', { behind: 3 }), objectsOf('z', { status: { history } }))(1), ['a']);
    const back = objectsOf('z', { status: { history, replicas: 3, readyReplicas: 3 } });
    assert.deepEqual(at(objectsOf('a', { behind: 3 }), back)(1), ['z']);
  });

  test('is none of the business of clusters of another fleet, or of none', () => {
    assert.deepEqual(at(...all, objectsOf('foreign', { behind: 1, owner: 'other' }))(5), []);
    assert.deepEqual(at(objectsOf('alone', { behind: 3, owner: 'other' }))(1), []);
  });
});

describe('a stage with a limit of its own', () => {
  const limits = (first: number | string, whole: number | string = '100%'): EtcdFleet => {
    const { spec, ...others } = fleet(whole);
    const stages = [{ name: 'canary', matchLabels: { stage: 'canary' }, maxClustersInProgress: first }];
    return { ...others, spec: { ...spec, rollout: { stages } } };
  };
  const canary = (name: string, differences: Parameters<typeof objectsOf>[1] = { behind: 3 }) =>
    objectsOf(name, { metadata: { labels: { [labels.fleet]: fleetUid, stage: 'canary' } }, ...differences });
  const others = ['x', 'y'].map((name) => objectsOf(name, { behind: 3 }));
  const clusters = [...['a', 'b', 'c', 'd'].map((name) => canary(name)), ...others];
  const waiting = (of: EtcdFleet, all = clusters) => Object.fromEntries(clustersWithoutRoom(all, [of]));

  test('lets as many of it begin, by number or by share of the stage, and names those', () => {
    assert.deepEqual(waiting(limits(1)), { b: ['shop/a'], c: ['shop/a'], d: ['shop/a'] });
    assert.deepEqual(waiting(limits('50%')), { c: ['shop/a', 'shop/b'], d: ['shop/a', 'shop/b'] });
    assert.deepEqual(Object.keys(waiting(limits('1%'))), ['b', 'c', 'd']);
  });

  test('counts those of it that are being changed, or are not well, and no others', () => {
    const busy = canary('z', { behind: 1 });
    assert.deepEqual(waiting(limits(1), [...clusters.slice(0, 1), busy]), { a: ['shop/z'] });
    const elsewhere = objectsOf('z', { behind: 1 });
    assert.deepEqual(waiting(limits(1), [...clusters.slice(0, 1), elsewhere]), {});
  });

  test('keeps the limit of the whole fleet, whose turns it does not take', () => {
    const among = ['shop/a', 'shop/x'];
    assert.deepEqual(waiting(limits(1, 2)), { b: ['shop/a'], c: ['shop/a'], d: ['shop/a'], y: among });
    assert.deepEqual(Object.keys(waiting(limits(3, 2))), ['c', 'd', 'x', 'y']);
  });
});

describe('room is taken', () => {
  const eager = ['a', 'b', 'c'].map((name) => objectsOf(name, { behind: 3 }));
  const sealed = ['sealed', 'sealed', 'sealed'] as const;
  const paused = { annotations: { [annotations.paused]: 'true' } };
  for (const [by, z, takes] of [
    ['a member that joins', { states: ['sealed', 'sealed', 'joining'] }, true],
    ['a member that leaves', { states: ['sealed', 'sealed', 'releasing'] }, true],
    ['a member that is down, whoever heals it', { states: sealed, unready: [1] }, true],
    ['a member that is down and was half-rolled', { states: sealed, unready: [0], behind: 1 }, true],
    ['nobody where all is well', { states: sealed }, false],
    ['nobody while a cluster is being born', { states: ['bootstrapping', 'sealed', 'sealed'], unready: [0, 1] }, false],
    [
      'nobody where members sleep',
      { states: ['hibernating', 'hibernating', 'hibernating'], unready: [0, 1, 2] },
      false,
    ],
    ['nobody where a person has paused it', { states: sealed, unready: [1], behind: 1, metadata: paused }, false],
  ] as const satisfies readonly (readonly [string, Parameters<typeof objectsOf>[1], boolean])[]) {
    test(`by ${by}`, () => {
      const without = clustersWithoutRoom([...eager, objectsOf('z', z)], [fleet(1)]);
      assert.equal(without.has('a'), takes);
      assert.ok(!takes || without.get('a')?.includes('shop/z'), 'and a person is told by whom');
      assert.ok(!takes || !without.has('z'), 'who takes room goes on');
    });
  }

  test('by several: at most as many are at it at once', () => {
    const ill = ['x', 'y'].map((name) => objectsOf(name, { states: sealed, unready: [2] }));
    assert.deepEqual(at(...eager, ...ill)(3), ['b', 'c']);
    assert.deepEqual(at(...eager, ...ill)(1), ['a', 'b', 'c']);
    assert.deepEqual(at(...eager, ...ill)('60%'), ['b', 'c']);
  });
});

describe("a stranger's cluster with the fleet's label", () => {
  const states = ['sealed', 'sealed', 'sealed'] as const;
  const own = objectsOf('a', { behind: 3 });
  const inventory = [{ namespace: 'shop', name: 'a', uid: 'a', generation: 1, source: 'a.yaml' }];
  const applied = (limit: number | string): EtcdFleet => ({
    ...fleet(limit),
    status: { observedGeneration: 1, inventory },
  });

  test('takes no room, however broken it is', () => {
    const broken = ['x', 'y'].map((name) => objectsOf(name, { states, unready: [1] }));
    assert.ok(!clustersWithoutRoom([own, ...broken], [applied(1)]).has('a'));
  });

  test('adds nothing to a share', () => {
    const ours = objectsOf('b', { states, unready: [0] });
    const many = Array.from({ length: 20 }, (_, n) => objectsOf(`x${n}`, { states }));
    const both = { ...applied('50%'), status: { observedGeneration: 1, inventory: [...inventory, entry('b')] } };
    assert.ok(clustersWithoutRoom([own, ours, ...many], [both]).has('a'));
  });

  test('waits like any other, and is told no name from elsewhere', () => {
    const elsewhere = objectsOf('z', {
      behind: 1,
      metadata: { namespace: 'other', labels: { [labels.fleet]: fleetUid } },
    });
    const without = clustersWithoutRoom([own, elsewhere, objectsOf('x', { behind: 3 })], [applied(1)]);
    assert.deepEqual(without.get('x'), []);
  });

  function entry(name: string) {
    return { namespace: 'shop', name, uid: name, generation: 1, source: `${name}.yaml` };
  }
});

describe('without room', () => {
  const crowdedBy = ['shop/w', 'shop/x', 'shop/y', 'shop/z'];
  const grown = (slot: Slot): Slot =>
    withEndpoint(endpoint(slot.ordinal, { dbSize: 2n ** 30n, dbSizeInUse: 1000n }))(slot);
  const lost = all(without('volume', 'pod'), withEndpoint(silent));
  const longAgo = {
    observedGeneration: 3,
    members: [
      { name: 'orders-1', id: 'a1', healthy: false, unhealthySince: '2026-01-02T02:00:00Z', role: 'Voter' as const },
    ],
  };
  for (const [what, differences, reason] of [
    ['no cluster grows', { spec: { replicas: 5 } }, 'WaitingForRoom'],
    ['none shrinks', { spec: { replicas: 1 } }, 'WaitingForRoom'],
    ['none hibernates', { spec: { replicas: 0 } }, 'WaitingForRoom'],
    ['none is defragmented that can wait', { every: grown }, 'WaitingForRoom'],
    ['volumes grow, which takes nobody away', { spec: { storage: { size: '2Gi' } } }, 'GrowingVolumes'],
    ['who is lost is replaced', { slots: { 1: lost }, status: longAgo }, 'ReplacingMember'],
    ['who is about to be is, too', { slots: { 1: withVolume({ leaving: true }) } }, 'ReplacingMember'],
    ['who is well is at rest', {}, 'Converged'],
  ] as const satisfies readonly (readonly [string, Differences, string])[]) {
    test(what, () => assert.equal(decide({ ...healthy(3, differences), crowdedBy }).reason, reason));
  }

  test('a person is told who takes it', () => {
    const { message } = decide({ ...healthy(3, { spec: { replicas: 5 } }), crowdedBy });
    assert.match(message, /not healthy: shop\/w, shop\/x, shop\/y, others$/);
  });
});

test('who waited for room comes before who has not asked', () => {
  const waiting = objectsOf('z', {
    status: { lastDecision: { kind: 'Wait', reason: 'WaitingForRoom', message: '' } },
  });
  assert.deepEqual(at(objectsOf('a'), waiting)(1), ['a']);
});

test('who waits for a window keeps the room from none', () => {
  const outside = { lastDecision: { kind: 'Wait', reason: 'OutsideWindows', message: '' } } as const;
  const [a, z] = [objectsOf('a', { behind: 3, status: outside }), objectsOf('z', { behind: 3 })];
  assert.deepEqual(at(a, z)(1), ['a']);
  // One of its members was cured on the new configuration meanwhile.
  assert.deepEqual(at(objectsOf('a', { behind: 1, status: outside }), z)(1), ['a']);
});

test('a cluster that soaks takes no room, and asks for it before its last step', () => {
  const z = objectsOf('z', { behind: 3 });
  const soak = { version: '3.6.16', since: '2026-01-01T00:00:00Z' };
  const says = (reason: string) => ({ soak, lastDecision: { kind: 'Wait', reason, message: '' } }) as const;
  assert.deepEqual(at(objectsOf('a', { behind: 1, status: says('Soaking') }), z)(1), ['a']);
  // Of two that waited, the first by name; the other takes nothing meanwhile.
  const asking = (name: string) => objectsOf(name, { behind: 1, status: says('WaitingForRoom') });
  assert.deepEqual(at(asking('a'), asking('b'))(1), ['b']);
  assert.deepEqual(at(objectsOf('a', { behind: 1, status: { soak } }), asking('b'))(1), ['b']);
});

describe('of clusters at rest, the one that needs another number of members comes first', () => {
  const asleep = ['hibernating', 'hibernating', 'hibernating'] as const;
  const refused = { action: 'prepare-members', target: 'z-3', reason: 'Forbidden' } as never;
  const decision = { kind: 'Refuse', reason: 'Stalled', message: '' } as never;
  for (const [what, z, others] of [
    ['to grow', { spec: { replicas: 5 } }, ['a', 'b']],
    ['to shrink', { spec: { replicas: 1 } }, ['a', 'b']],
    ['but not while its step is set aside', { spec: { replicas: 5 }, status: { setAside: [refused] } }, ['b', 'z']],
    ['nor where a person is needed first', { spec: { replicas: 5 }, status: { lastDecision: decision } }, ['b', 'z']],
    ['nor where all its members sleep', { spec: { replicas: 0 }, states: asleep }, ['b', 'z']],
    ['nor where a person stopped it', { spec: { replicas: 5, suspend: true }, behind: 3 }, ['b']],
  ] as const satisfies readonly (readonly [string, Parameters<typeof objectsOf>[1], readonly string[]])[]) {
    test(what, () => assert.deepEqual(at(objectsOf('a'), objectsOf('b'), objectsOf('z', z))(1), others));
  }
});

test('without room nothing is begun, and what was begun is finished', () => {
  const older = withInputs({ resources: { limits: { memory: '1Gi' } } });
  const none = { ...healthy(3, { every: older }), crowdedBy: ['shop/z'] };
  assert.equal(decide(none).reason, 'WaitingForRoom');
  const half = { ...healthy(3, { slots: { 1: older } }), crowdedBy: ['shop/z'] };
  assert.equal(decide(half).reason, 'RollingConfiguration');
});
