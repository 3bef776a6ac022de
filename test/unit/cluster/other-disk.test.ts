import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { simulate } from '../../../reconcile/cluster/foresee/simulate.ts';
import type { Membership, Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  clusterId,
  type Differences,
  endpoint,
  healthy,
  memberId,
  members,
  silent,
  withContainer,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

const onDisk = (pv: string, handle?: string) =>
  withVolume({ disk: { pv, ...(handle !== undefined && { handle }), state: 'unknown', homes: 'unknown' } });
const noted = (slot: Slot): Slot =>
  all(onDisk(`pv-${slot.ordinal}`), withRecord({ disk: { pv: `pv-${slot.ordinal}` } }))(slot);
/** Restored under its name: another UID, another disk, and its ConfigMap went with the former PVC. */
const restored = (slot: Slot): Slot =>
  all(withVolume({ uid: `restored-${slot.ordinal}` }), onDisk(`copy-${slot.ordinal}`), without('configMap'))(slot);
const waiting = all(
  withContainer({ state: 'waiting', reason: 'CreateContainerConfigError', everStarted: false }),
  withPod({ ready: false }),
  withEndpoint(silent),
);
const starts = all(
  withContainer({ state: 'waiting', reason: 'ContainerCreating', everStarted: false }),
  withPod({ ready: false }),
  withEndpoint(silent),
);
const older = all(restored, waiting);
const longAgo = (...ordinals: readonly number[]) => ({
  observedGeneration: 3,
  members: ordinals.map((ordinal) => ({
    name: `orders-${ordinal}`,
    id: memberId(ordinal),
    healthy: false,
    unhealthySince: '2026-01-02T02:00:00Z',
    role: 'Voter' as const,
  })),
});
const lost: Membership = { kind: 'unknown', cause: 'no quorum answers', last: members(3).members };
const alone = (slot: Slot): Slot => withEndpoint(endpoint(slot.ordinal, { leader: '0' }))(slot);
const approved = (text: string): Differences => ({ metadata: { annotations: { [annotations.acceptDisks]: text } } });

function seen(differences: Differences = {}): Observation {
  return healthy(3, { ...differences, every: all(noted, differences.every ?? ((slot) => slot)) });
}

function approvalIn(observation: Observation): string {
  const decision = decide(observation);
  assert.equal(decision.kind, 'refuse', decision.reason);
  const [, text] = /accept-disks=(\S+)$/.exec(decision.kind === 'refuse' ? decision.cure : '') ?? [];
  return text ?? assert.fail(decision.message);
}

describe('which disk a volume was sealed on', () => {
  test('is noted where a member is well, once, and nothing restarts', () => {
    const unnoted = healthy(3, { every: (slot) => onDisk(`pv-${slot.ordinal}`)(slot) });
    const decision = decide(unnoted);
    assert.partialDeepStrictEqual(decision, { reason: 'NotingDisks', action: { kind: 'note-disks' } });
    assert.equal(decide(simulate(unnoted, decision)).reason, 'Converged');
    assert.equal(decide(seen()).reason, 'Converged');
  });

  test('is noted anew where the same disk has come back as another PersistentVolume', () => {
    const imported = all(onDisk('imported', 'vol-1'), withRecord({ disk: { pv: 'pv-1', handle: 'vol-1' } }));
    assert.equal(decide(seen({ slots: { 1: imported } })).reason, 'NotingDisks');
    assert.equal(decide(seen({ slots: { 1: all(imported, without('configMap')) } })).reason, 'FollowingVolumes');
  });

  test('is noted on retained volumes before anything is made for them', () => {
    const retained = healthy(3, {
      every: (slot) =>
        all(
          onDisk(`pv-${slot.ordinal}`),
          without('peer', 'configMap', 'statefulSet', 'pod'),
          withEndpoint(silent),
        )(slot),
      membership: { kind: 'unknown', cause: 'no member runs' },
    });
    assert.equal(decide(retained).reason, 'NotingDisks');
    assert.equal(decide(simulate(retained, decide(retained))).reason, 'AdoptingVolumes');
  });
});

describe('a handle that could not be read when its member was sealed', () => {
  const placed = new Date('2026-01-02T02:00:00Z');
  const seenDisk = (pv: string, handle?: string, createdAt = placed) =>
    withVolume({ disk: { pv, ...(handle !== undefined && { handle }), createdAt, state: 'present', homes: 'some' } });
  const readable = all(seenDisk('pv-1', 'vol-1'), withPod({ scheduledAt: placed }));
  const noting = (decision: ReturnType<typeof decide>) =>
    decision.kind === 'act' && decision.action.kind === 'note-disks';

  test('is noted once it can be read, and its member is seen to vote on it', () => {
    const observation = seen({ slots: { 1: readable } });
    const decision = decide(observation);
    assert.partialDeepStrictEqual(decision, {
      reason: 'NotingDisks',
      action: { volumes: [{ name: 'orders-1', disk: { pv: 'pv-1', handle: 'vol-1' } }] },
    });
    assert.equal(decide(simulate(observation, decision)).reason, 'Converged');
  });

  test('is noted as none where its PersistentVolume has none, and then asked for no more', () => {
    const observation = seen({ slots: { 1: all(seenDisk('pv-1'), withPod({ scheduledAt: placed })) } });
    const decision = decide(observation);
    assert.partialDeepStrictEqual(decision, { action: { volumes: [{ disk: { pv: 'pv-1', handle: null } }] } });
    assert.equal(decide(simulate(observation, decision)).reason, 'Converged');
  });

  for (const [what, change] of [
    [
      'the PersistentVolume is younger than what its pod mounted',
      withPod({ scheduledAt: new Date('2026-01-02T01:59:59Z') }),
    ],
    ['nothing tells when its pod was placed', (slot: Slot) => withPod({})({ ...slot, pod: unplaced(slot) })],
    ['another member ID answers', withEndpoint(endpoint(1, { memberId: memberId(7) }))],
    ['another cluster answers', withEndpoint(endpoint(1, { clusterId: 'c2c2' }))],
    ['nothing answers', withEndpoint(silent)],
    ['its pod ends', withPod({ leaving: true })],
    ['its claim was made anew', without('configMap')],
    ['an earlier release made its ConfigMap', (slot: Slot) => ({ ...slot, configMap: byPeer(slot) })],
    ['the PersistentVolume could not be read', onDisk('pv-1', 'vol-1')],
  ] as const) {
    test(`is not noted while ${what}`, () => {
      const decision = decide(seen({ slots: { 1: all(readable, change) } }));
      assert.ok(!noting(decision), decision.reason);
    });
  }

  test('a PVC made anew under the same names is not started: the name alone proves nothing', () => {
    const copy = all(older, seenDisk('pv-1', 'vol-of-a-snapshot'));
    const decision = decide(seen({ slots: { 1: copy } }));
    assert.equal(decision.reason, 'MemberDown');
    assert.match(decision.message, /whose disk was not recorded, and disk vol-of-a-snapshot has that name now/);
    assert.equal(decide(seen({ slots: { 1: copy }, status: longAgo(1) })).reason, 'ReplacingMember');
  });

  test('where nothing may be read, the name still tells', () => {
    assert.equal(decide(seen({ slots: { 1: all(older, onDisk('pv-1')) } })).reason, 'FollowingVolumes');
  });
});

function unplaced({ pod }: Slot) {
  const { scheduledAt: _, ...rest } = pod ?? assert.fail();
  return rest;
}

function byPeer({ configMap }: Slot) {
  return { ...(configMap ?? assert.fail()), byPeer: true as const };
}

describe('a PersistentVolume that was replaced under its PVC', () => {
  const placed = new Date('2026-01-02T02:00:00Z');
  const replaced = (createdAt: Date) =>
    all(
      withVolume({ disk: { pv: 'pv-1', handle: 'vol-of-a-snapshot', createdAt, state: 'present', homes: 'some' } }),
      withRecord({ disk: { pv: 'pv-1', handle: 'vol-1' } }),
      withPod({ scheduledAt: placed }),
    );

  test('its member is stopped where the others are a healthy quorum', () => {
    assert.partialDeepStrictEqual(decide(seen({ slots: { 1: replaced(placed) } })), {
      action: { kind: 'bar-members', members: [{ name: 'orders-1', configMap: 'config-1', pod: 'pod-1' }] },
    });
  });

  test('a pod that was placed before has the right disk still: it runs on, and no other may start', () => {
    const decision = decide(seen({ slots: { 1: replaced(new Date('2026-01-02T02:00:01Z')) } }));
    assert.equal(decision.kind === 'act' && decision.action.kind, 'bar-members');
    assert.deepEqual(decision.kind === 'act' && decision.action.kind === 'bar-members' && decision.action.members, [
      { name: 'orders-1', configMap: 'config-1' },
    ]);
  });

  test('by one of no CSI driver, it is another disk as well', () => {
    const local = withVolume({ disk: { pv: 'pv-1', state: 'present', homes: 'some' } });
    const decision = decide(seen({ slots: { 1: all(replaced(placed), local) } }));
    assert.equal(decision.reason, 'BarringMembers');
  });
});

describe('another disk, and the others are a healthy quorum', () => {
  test('nothing is made that would start it, and after its grace it is replaced', () => {
    const soon = decide(seen({ slots: { 1: older } }));
    assert.partialDeepStrictEqual(soon, { kind: 'wait', reason: 'MemberDown' });
    assert.match(soon.message, /has PersistentVolume copy-1, and orders-1 was sealed on PersistentVolume pv-1/);
    assert.equal(decide(seen({ slots: { 1: older }, status: longAgo(1) })).reason, 'ReplacingMember');
  });

  test('its volume is kept whatever the policy says', () => {
    const decision = decide(seen({ slots: { 1: older }, status: longAgo(1), spec: { replicas: 1 } }));
    assert.partialDeepStrictEqual(decision, { action: { kind: 'remove-member', name: 'orders-1', keeps: true } });
  });

  test('a pod that slipped in is stopped, and what let it start goes first', () => {
    assert.partialDeepStrictEqual(decide(seen({ slots: { 1: restored } })), {
      reason: 'BarringMembers',
      action: { members: [{ name: 'orders-1', pod: 'pod-1' }] },
    });
    const swapped = all(onDisk('pv-1', 'vol-of-a-snapshot'), withRecord({ disk: { pv: 'pv-1', handle: 'vol-1' } }));
    assert.partialDeepStrictEqual(decide(seen({ slots: { 1: swapped } })), {
      action: { kind: 'bar-members', members: [{ name: 'orders-1', configMap: 'config-1', pod: 'pod-1' }] },
    });
  });

  test('one whose PVC was made anew before there was a note is not started either', () => {
    const decision = decide(healthy(3, { slots: { 1: older } }));
    assert.equal(decision.reason, 'MemberDown');
    assert.match(decision.message, /does not say which disk/);
  });

  test('a PVC that has no disk yet is not started either', () => {
    const unbound = all(older, (slot) => {
      const { disk: _, ...volume } = slot.volume ?? assert.fail();
      return { ...slot, volume: { ...volume, bound: false } };
    });
    const decision = decide(seen({ slots: { 1: unbound } }));
    assert.equal(decision.reason, 'MemberDown');
    assert.match(decision.message, /has no disk yet; orders-1 was sealed on PersistentVolume pv-1/);
  });

  test('the same disk under a new PVC is the same: it is let in again', () => {
    const same = all(withVolume({ uid: 'volume-again' }), without('configMap'), waiting);
    assert.equal(decide(seen({ slots: { 1: same } })).reason, 'FollowingVolumes');
  });
});

describe('another disk, and without it there is no quorum', () => {
  const away = all(without('volume', 'configMap', 'statefulSet', 'pod'), withEndpoint(silent));
  const gone = { membership: lost, slots: { 0: alone, 1: away, 2: older }, status: longAgo(1, 2) };

  test('a person is told what may be lost, and approves exactly this disk', () => {
    const asked = decide(seen(gone));
    assert.partialDeepStrictEqual(asked, { kind: 'refuse', reason: 'AnotherDisk' });
    const text = approvalIn(seen(gone));
    assert.ok(text.startsWith(`${clusterId}/`));
    assert.partialDeepStrictEqual(decide(seen({ ...gone, ...approved(text) })), {
      reason: 'AcceptingDisks',
      action: {
        kind: 'accept-disks',
        approval: text,
        clusterId,
        volumes: [{ name: 'orders-2', uid: 'restored-2', memberId: memberId(2), pv: 'copy-2' }],
      },
    });
  });

  test('an approval for another PVC or another disk is void', () => {
    const text = approvalIn(seen(gone));
    for (const change of [withVolume({ uid: 'restored-again' }), onDisk('copy-3')]) {
      const slots = { ...gone.slots, 2: all(older, change) };
      const decision = decide(seen({ ...gone, slots, ...approved(text) }));
      assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'AnotherDisk' });
      assert.match(decision.message, /is for other disks, and void$/);
    }
  });

  test('no garbage approves anything', () => {
    const text = approvalIn(seen(gone));
    const [, word = ''] = text.split('/');
    const pieces = fc.constantFrom(clusterId, word, word.slice(1), '/', '.', ' ', '\u202e', '', 'x'.repeat(5000));
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 6 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(hostile, (given) => {
        const isIt =
          given.startsWith(`${clusterId}/`) &&
          given
            .slice(clusterId.length + 1)
            .split('.')
            .includes(word);
        assert.equal(decide(seen({ ...gone, ...approved(given) })).kind, isIt ? 'act' : 'refuse', given);
      }),
      { numRuns: 50 },
    );
  });

  test('one that others elect a leader with is not stopped for one list that was not to be had', () => {
    const serving = { membership: lost, slots: { 1: away, 2: restored }, status: longAgo(1) };
    assert.notEqual(decide(seen(serving)).reason, 'BarringMembers');
    const leaderless = { ...serving, slots: { 0: alone, 1: away, 2: all(restored, alone) } };
    assert.equal(decide(seen(leaderless)).reason, 'BarringMembers');
    const mute = { ...serving, slots: { 0: alone, 1: away, 2: all(restored, withEndpoint(silent)) } };
    assert.equal(decide(seen(mute)).reason, 'BarringMembers');
  });

  test('while others may still be a quorum, no approval is asked for', () => {
    const slots = { 0: alone, 1: starts, 2: older };
    assert.equal(decide(seen({ membership: lost, slots, status: longAgo(2) })).kind, 'wait');
  });

  test('one that runs is stopped while there is no quorum', () => {
    const slots = { ...gone.slots, 2: restored };
    assert.partialDeepStrictEqual(decide(seen({ ...gone, slots })), {
      action: { kind: 'bar-members', members: [{ name: 'orders-2', pod: 'pod-2' }] },
    });
  });

  test('one that votes already and is needed is named, and not stopped', () => {
    const serving = { ...gone, membership: members(3), slots: { ...gone.slots, 0: (slot: Slot) => slot, 2: restored } };
    const decision = decide(seen(serving));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'AnotherDisk' });
    assert.match(decision.message, /it votes all the same/);
  });
});

describe('more than one other disk', () => {
  const none: Membership = { kind: 'unknown', cause: 'no member runs' };
  const every: Differences = { membership: none, every: older, status: longAgo(0, 1, 2) };

  test('of all members: it is offered as what it is, with one approval for all', () => {
    assert.partialDeepStrictEqual(decide(seen(every)), { kind: 'refuse', reason: 'AllDisksRestored' });
    const text = approvalIn(seen(every));
    const decision = decide(seen({ ...every, ...approved(text) }));
    assert.partialDeepStrictEqual(decision, { action: { kind: 'accept-disks', approval: text } });
    // Its pods wait for the ConfigMaps that this makes.
    const { steps, end } = plan(seen({ ...every, ...approved(text) }));
    assert.deepEqual([steps.map(({ action }) => action), end.kind], [['accept-disks'], 'done'], end.message);
  });

  test('an approval that was half carried out fits the rest', () => {
    const text = approvalIn(seen(every));
    const accepted = withRecord({ disk: { pv: 'copy-0' } });
    const half = seen({ ...every, ...approved(text), slots: { 0: accepted } });
    assert.equal(decide(half).reason, 'FollowingVolumes');
    const followed = simulate(half, decide(half));
    assert.partialDeepStrictEqual(decide(followed), {
      action: { kind: 'accept-disks', volumes: [{ name: 'orders-1' }, { name: 'orders-2' }] },
    });
  });

  test('two of three, and the third has its own: it goes on from that one, not from the two', () => {
    const two = { membership: lost, slots: { 0: alone, 1: older, 2: older }, status: longAgo(1, 2) };
    const decision = decide(seen(two));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'QuorumLost' });
    assert.match(decision.message, /orders-1 \(its PVC has another disk than the one it was sealed on\)/);
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /goes on with the data of orders-0/);
  });

  test('the one that a recovery goes on from: a person is asked first', () => {
    const recovery = { id: '0123456789ab', attempt: 0, lastSeenOn: {} };
    const chosen = all(older, without('statefulSet', 'pod'), withRecord({ state: 'recovering', recovery }));
    const others = all(
      without('statefulSet', 'pod', 'peer'),
      withRecord({ state: 'superseded' }),
      withEndpoint(silent),
    );
    const decision = decide(seen({ membership: none, slots: { 0: chosen, 1: others, 2: others } }));
    assert.equal(decision.reason, 'AnotherDisk');
  });

  test('volumes that sleep, or leave, are told apart as well', () => {
    const asleep = all(older, without('statefulSet', 'pod'), withRecord({ state: 'hibernating' }));
    const sleeping = seen({ membership: none, spec: { replicas: 0 }, every: asleep });
    assert.notEqual(decide(sleeping).reason, 'FollowingVolumes');
    const released = all(without('peer', 'statefulSet', 'pod'), restored, withRecord({ state: 'released' }));
    assert.notEqual(decide(seen({ membership: none, every: released })).reason, 'AnotherDisk');
  });
});

test('whatever is restored, nothing is started or written for a disk without an approval', () => {
  const state = fc.constantFrom('sealed', 'hibernating', 'releasing', 'recovering', 'recovered');
  const kind = fc.constantFrom('well', 'older', 'runs', 'gone', 'starting', 'bare');
  const slot = fc.record({ kind, state });
  const change = ({ kind: what, state: says }: { kind: string; state: string }): ((slot: Slot) => Slot) => {
    const told = withRecord({ state: says as 'sealed' });
    switch (what) {
      case 'older':
        return all(older, told);
      case 'runs':
        return all(restored, told);
      case 'gone':
        return all(without('volume', 'configMap', 'pod'), withEndpoint(silent));
      case 'starting':
        return starts;
      case 'bare':
        return all(older, without('peer', 'statefulSet', 'pod'), told);
      default:
        return (one) => one;
    }
  };
  const reached = new Set<string>();
  fc.assert(
    fc.property(fc.tuple(slot, slot, slot), fc.boolean(), fc.boolean(), (kinds, quorum, late) => {
      const slots = Object.fromEntries(kinds.map((one, ordinal) => [ordinal, change(one)]));
      const observation = seen({
        slots,
        membership: quorum ? members(3) : lost,
        ...(late && { status: longAgo(0, 1, 2) }),
      });
      const decision = decide(observation);
      reached.add(decision.reason);
      if (decision.kind !== 'act') return;
      const strangers = observation.slots.flatMap(({ name, volume }) =>
        volume?.uid.startsWith('restored') ? [name] : [],
      );
      const { action } = decision;
      const started = action.kind === 'follow-volumes' || action.kind === 'start-members' ? action.peers : [];
      assert.deepEqual(
        started.filter((name) => strangers.includes(name)),
        [],
      );
      assert.notEqual(action.kind, 'accept-disks');
      const after = simulate(observation, decision);
      for (const one of after.slots)
        if (one.volume?.uid.startsWith('restored')) assert.equal(one.configMap, undefined, decision.reason);
    }),
    // One seed: what must have been reached is looked at below.
    { numRuns: 1000, seed: 20261122 },
  );
  for (const reason of ['AnotherDisk', 'BarringMembers', 'QuorumLost', 'ReplacingMember'])
    assert.ok(reached.has(reason), `${reason} of ${[...reached].join()}`);
});

describe('a PVC that says what it said before its member was a voter', () => {
  const joinedOnce = (slot: Slot): Slot => {
    const record = slot.volume?.record;
    if (record?.kind !== 'valid') return assert.fail();
    const { disk: _, memberId: __, ...rest } = record.record;
    const early = { kind: 'valid', record: { ...rest, state: 'joining' } } as const;
    return all(restored, waiting, withVolume({ record: early }))(slot);
  };

  test('starts nothing: without its volume its member is replaced', () => {
    assert.partialDeepStrictEqual(decide(seen({ slots: { 1: joinedOnce } })), { kind: 'wait', reason: 'MemberDown' });
    assert.equal(decide(seen({ slots: { 1: joinedOnce }, status: longAgo(1) })).reason, 'ReplacingMember');
  });

  test('starts nothing while it is unknown who votes', () => {
    for (const membership of [lost, { kind: 'unknown', cause: 'no member runs' } as const]) {
      const away = all(withEndpoint(silent), withPod({ ready: false }));
      const decision = decide(seen({ membership, every: away, slots: { 1: joinedOnce } }));
      assert.notEqual(decision.reason, 'FollowingVolumes', membership.cause);
    }
  });

  test('and one that joins for the first time gets its settings', () => {
    const { members: listed, ...rest } = members(3);
    const learner = { ...rest, members: listed.map((one, index) => ({ ...one, isLearner: index === 1 })) };
    const slots = { 1: all(joinedOnce, withVolume({ uid: 'volume-1' })) };
    assert.equal(decide(seen({ membership: learner, slots })).reason, 'FollowingVolumes');
  });
});
