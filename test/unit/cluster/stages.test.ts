import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { labels } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { startingInputs } from '../../../reconcile/cluster/decide/held-version.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { clustersWithoutRoom } from '../../../reconcile/cluster/observe/room.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import { handOverAnnotation } from '../../../reconcile/fleet/names.ts';
import { fleet, fleetUid, objectsOf } from './fleet-objects.ts';
import {
  all,
  crashing,
  type Differences,
  endpoint,
  healthy,
  noQuorum,
  silent,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
} from './observations.ts';
import { canary, eu, fleetOf, heldAmong, now, type Objects, one, rest } from './staged-objects.ts';

describe('a commit that changes every cluster of a fleet with stages', () => {
  test('begins with those of the first one', () => {
    const held = heldAmong([canary({ behind: 3 }), eu({ behind: 3 }), rest({ behind: 3 })]);
    assert.deepEqual([...held.keys()], ['b', 'c']);
    assert.deepEqual(held.get('b'), {
      fleet: 'etcd-ratchet/production',
      why: 'stage canary is not over: shop/a is being changed',
    });
  });

  const ago = { readyAt: '2026-01-02T11:00:00Z', startedAt: '2026-01-02T10:59:00Z' };

  test('goes on when those have been well for the soak, and not a second before', () => {
    const others = [eu({ behind: 3 }), rest({ behind: 3 })];
    const soaks = heldAmong([canary({ ...ago, readyAt: '2026-01-02T11:00:01Z' }), ...others]);
    assert.deepEqual([...soaks.keys()], ['b', 'c']);
    assert.deepEqual(soaks.get('c')?.until, new Date('2026-01-02T12:00:01Z'));
    assert.match(soaks.get('c')?.why ?? '', /shop\/a soaks until 2026-01-02T12:00:01Z$/);
    assert.deepEqual([...heldAmong([canary(ago), ...others]).keys()], ['c']);
    assert.deepEqual([...heldAmong([canary(ago), eu(), rest({ behind: 3 })]).keys()], []);
  });

  test('counts from when etcd started last, also where its pod stayed', () => {
    assert.deepEqual([...heldAmong([canary({ ...ago, startedAt: '2026-01-02T11:30:00Z' }), eu()]).keys()], ['b']);
  });

  const ready = { type: 'Ready', reason: 'X', message: '', lastTransitionTime: '2026-01-02T10:00:00Z' } as const;
  const said = (kind: 'Wait' | 'Refuse', reason: string) => ({ lastDecision: { kind, reason, message: '' } }) as const;
  const aside = { action: 'prepare-members', target: 'a-3', reason: 'Forbidden' } as never;
  for (const [what, first, why] of [
    ['is not Ready', { status: { conditions: [{ ...ready, status: 'False' }] } }, /shop\/a is not well/],
    ['waits for a person', { status: said('Refuse', 'UnsafeUpgrade') }, /not as asked \(UnsafeUpgrade\)/],
    ['is suspended', { status: said('Wait', 'Suspended') }, /not as asked \(Suspended\)/],
    ['has a step that was set aside', { status: { setAside: [aside] } }, /not well, or not as asked/],
    ['has a member that is down', { unready: [1] }, /has a member that is not Ready/],
    ['has no pods', { states: [] }, /has a member that is not Ready/],
    ['has fewer members than asked for', { spec: { replicas: 5 } }, /has a member that is not Ready/],
    ['has another spec than its members', { behind: 3 }, /is being changed/],
    ['has a commit that was not looked at', { status: { observedGeneration: 0 } }, /has not been looked at since/],
  ] as const satisfies readonly (readonly [string, Objects, RegExp])[]) {
    test(`waits while one of the first stage ${what}`, () => {
      const held = heldAmong([canary(first), eu({ behind: 3 })]);
      assert.match(held.get('b')?.why ?? 'it is not held', why);
    });
  }

  test('names the one that needs a person before those that only soak, and how many there are', () => {
    const soaking = one('a', { stage: 'canary' }, { readyAt: '2026-01-02T11:30:00Z' });
    const refused = one('z', { stage: 'canary' }, { status: said('Refuse', 'UnsafeUpgrade') });
    assert.match(heldAmong([soaking, refused, eu()]).get('b')?.why ?? '', /shop\/z is not well.*, and 1 more$/);
  });

  const going = { behind: 3, metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } };
  const asleep = { behind: 3, status: said('Wait', 'Hibernating') };

  test('passes by what hibernates or is being deleted, beside one that runs', () => {
    for (const passedBy of [going, asleep]) {
      const beside = one('z', { stage: 'canary' }, passedBy);
      assert.deepEqual([...heldAmong([canary(), beside, eu({ behind: 3 })]).keys()], []);
    }
  });

  test('stops at a stage of which nothing runs, by a slip in a label or at night', () => {
    for (const first of [[], [canary(asleep)], [canary(going)]])
      assert.match(heldAmong([...first, eu({ behind: 3 })]).get('b')?.why ?? '', /canary is not over: no cluster that/);
  });

  test('stops where a cluster of the fleet is not there, or is in no list', () => {
    const gone = one('gone', { stage: 'canary' });
    const held = heldAmong([canary(), eu({ behind: 3 })], fleetOf([canary(), eu(), gone]));
    assert.match(held.get('b')?.why ?? '', /shop\/gone is not there/);
  });

  test('does not stop for one that another invocation steps', () => {
    const elsewhere = one('elsewhere', { stage: 'canary' });
    const seen = [canary(), eu({ behind: 3 })];
    const of = fleetOf([canary(), eu(), elsewhere]);
    const listed = [...seen, elsewhere].map(({ cluster }) => cluster);
    assert.equal(heldByStages(seen, [of], now, listed).has('b'), heldAmong(seen, fleetOf(seen)).has('b'));
    assert.doesNotMatch(heldByStages(seen, [of], now, listed).get('b')?.why ?? '', /is not there/);
  });

  test('waits for none that was handed over', () => {
    const metadata = { annotations: { [handOverAnnotation]: 'etcd-ratchet/other' } };
    const over = one('z', { stage: 'canary' }, { behind: 3, metadata });
    assert.deepEqual([...heldAmong([canary(), over, eu({ behind: 3 })]).keys()], []);
  });
});

describe('what an invocation sees of a commit that another one is applying', () => {
  const [a, b] = [canary(), eu({ behind: 3 })];
  const of = fleetOf([a, b]);
  const revision = (attempted: string) => ({ revision: { ...of.status?.revision, attempted } });
  const moved = eu({ behind: 3, metadata: { generation: 2, labels: { [labels.fleet]: fleetUid, region: 'eu' } } });

  test('is no end of a stage while the fleet has not applied all of it', () => {
    assert.match(heldAmong([a, b], fleetOf([a, b], revision('other'))).get('b')?.why ?? '', /not all of its commit/);
    assert.match(
      heldAmong([a, b], { ...of, status: { ...of.status, observedGeneration: 1, revision: {} } }).get('b')?.why ?? '',
      /not all of/,
    );
  });

  test('is none while the fleet has not told that the cluster has it', () => {
    assert.match(heldAmong([a, moved], of).get('b')?.why ?? '', /has not told yet/);
  });

  test('is none where a cluster of the first stage was listed before it had it', () => {
    const told = (of.status?.inventory ?? []).map((entry) => ({ ...entry, generation: entry.uid === 'a' ? 2 : 1 }));
    assert.match(heldAmong([a, b], fleetOf([], { inventory: told })).get('b')?.why ?? '', /not as the fleet left it/);
  });

  test('is what people changed, where the fleet is suspended', () => {
    const suspended = { ...of, spec: { ...of.spec, suspend: true } };
    assert.equal(heldAmong([a, moved], suspended).get('b'), undefined);
    const behind = canary({ behind: 1 });
    assert.match(heldAmong([behind, moved], suspended).get('b')?.why ?? '', /shop\/a is being changed/);
  });
});

test('stages are none of the business of other fleets, and of fleets without', () => {
  const [a, b] = [canary({ behind: 3 }), eu({ behind: 3 })];
  const { spec, ...others } = fleetOf([a, b]);
  const { rollout: _, ...plain } = spec;
  assert.equal(heldByStages([a, b], [{ ...others, spec: plain }], now).size, 0);
  const foreign = one('x', { [labels.fleet]: 'other', region: 'eu' }, { behind: 3 });
  assert.equal(heldAmong([a, foreign], fleetOf([a])).has('x'), false);
});

test('a label alone holds up no stage, and is held by them', () => {
  const stranger = one('x', { stage: 'canary' }, { behind: 3 });
  const other = one('y', { region: 'eu' }, { behind: 3 });
  const held = heldAmong([canary(), eu({ behind: 3 }), stranger, other], fleetOf([canary(), eu()]));
  assert.deepEqual([...held.keys()], ['y']);
  assert.deepEqual(held.get('y'), { why: 'it is not known yet whether the cluster is one of that fleet' });
});

describe('a cluster that waits for a stage', () => {
  const hold = { fleet: 'etcd-ratchet/production', why: 'stage canary is not over: shop/a soaks' };
  const older = all(withInputs({ resources: { limits: { memory: '1Gi' } } }), (slot) => ({
    ...slot,
    ...(slot.statefulSet &&
      slot.peer && { statefulSet: { ...slot.statefulSet, inputsHash: inputsHash(slot.peer.inputs) } }),
  }));
  const told = withRecord({ rollsTo: '3.6.17' });
  const half = withInputs({ etcd: { snapshotCount: 7 } });
  const full = (slot: Slot): Slot =>
    withEndpoint(endpoint(slot.ordinal, { dbSize: 2n ** 30n, dbSizeInUse: 1000n }))(slot);
  const trusting = (trust: string) => withInputs({ tls: { mode: 'Disabled', trust } });
  const lost = all(without('volume', 'pod'), withEndpoint(silent));
  const longAgo = {
    observedGeneration: 3,
    members: [
      { name: 'orders-1', id: 'a1', healthy: false, unhealthySince: '2026-01-02T02:00:00Z', role: 'Voter' as const },
    ],
  };
  for (const [what, differences, reason] of [
    ['begins no roll', { every: older }, 'WaitingForStage'],
    ['begins no upgrade', { spec: { version: '3.6.17' } }, 'WaitingForStage'],
    ['grows', { spec: { replicas: 5 } }, 'PreparingMember'],
    ['grows, also where a roll waits', { spec: { replicas: 5 }, every: older }, 'PreparingMember'],
    ['grows, also where an upgrade waits', { spec: { replicas: 5, version: '3.6.17' } }, 'PreparingMember'],
    ['shrinks', { spec: { replicas: 1 } }, 'RemovingMember'],
    ['is defragmented, also where a roll waits', { every: all(older, full) }, 'Defragmenting'],
    ['is healed', { slots: { 1: lost }, status: longAgo }, 'ReplacingMember'],
    ['goes on with what it began', { slots: { 1: older } }, 'RollingConfiguration'],
    ['goes on with a version that it began', { spec: { version: '3.6.17' }, slots: { 1: told } }, 'UpgradingMember'],
    ['takes no next commit in the middle of one', { every: older, slots: { 1: all(older, half) } }, 'WaitingForStage'],
    ['rolls for CAs that no commit changed', { every: trusting('other') }, 'RollingConfiguration'],
    ['waits where a commit changed more', { every: all(older, trusting('other')) }, 'WaitingForStage'],
    ['is at rest where it is as asked', {}, 'Converged'],
  ] as const satisfies readonly (readonly [string, Differences, string])[]) {
    test(what, () => assert.equal(decide({ ...healthy(3, differences), stage: hold }).reason, reason));
  }

  test('says which and why, and looks again when the soak ends', () => {
    const observation = healthy(3, { every: older });
    const until = new Date(observation.at.getTime() + 90_000);
    const decision = decide({ ...observation, stage: { ...hold, until } });
    assert.partialDeepStrictEqual(decision, {
      kind: 'wait',
      message: `fleet etcd-ratchet/production rolls out in stages: ${hold.why}`,
      wakeOn: [{ on: 'time', afterSeconds: 90 }],
    });
  });

  test('comes after the stages before it, where there is little room', () => {
    const waits = { lastDecision: { kind: 'Wait', reason: 'AdoptionNotApproved', message: '' } } as const;
    const clusters = [one('a', {}, { behind: 3, status: waits }), one('z', { stage: 'canary' }, { behind: 3 })];
    const { spec, ...others } = fleetOf(clusters);
    const narrow = { ...others, spec: { ...spec, maxClustersInProgress: 1 } };
    assert.deepEqual([...clustersWithoutRoom(clusters, [narrow]).keys()], ['a']);
  });

  test('takes no room from those that may begin', () => {
    const lastDecision = { kind: 'Wait', reason: 'WaitingForStage', message: '' } as const;
    const waiting = objectsOf('a', { behind: 3, status: { lastDecision } });
    const others = [waiting, objectsOf('z', { behind: 3 })];
    assert.deepEqual([...clustersWithoutRoom(others, [fleet(1)]).keys()], ['a']);
  });

  const down = all(withEndpoint(silent), withPod({ ready: false }));
  const startsWith = (differences: Differences) =>
    startingInputs(situate({ ...healthy(3, differences), stage: hold })).resources?.limits?.memory;

  test('gives a member that is new or cured what those have that serve', () => {
    assert.equal(startsWith({ every: older }), '1Gi');
    assert.equal(startsWith({ every: older, slots: { 1: down } }), '1Gi');
    assert.equal(startsWith({ every: older, slots: { 0: without('peer', 'volume', 'pod') } }), '1Gi');
    const crashes = healthy(3, { every: older, slots: { 1: down } });
    assert.equal(decide({ ...crashes, stage: hold }).kind, 'wait', 'it may come back as it was');
    assert.equal(decide(crashes).reason, 'CuringConfiguration');
  });

  test('gives it what the commit says where a member fails on what it has, or no quorum answers', () => {
    assert.equal(startsWith({ every: older, slots: { 1: all(down, crashing) } }), undefined);
    assert.equal(startsWith({ every: older, membership: noQuorum('none answers') }), undefined);
    assert.equal(startsWith({ slots: { 0: older, 1: older } }), undefined);
  });
});
