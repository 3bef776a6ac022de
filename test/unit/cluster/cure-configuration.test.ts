import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  crashing,
  endpoint,
  healthy,
  noQuorum,
  silent,
  starting,
  waiting,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

const etcd = { snapshotCount: 5000 };
const spec = { etcd };
const down = noQuorum('down');
const unpullable = all(waiting, withContainer({ reason: 'ImagePullBackOff' }));
const frozen = all(withPod({ ready: false }), withEndpoint(silent));

const newer = all(withInputs({ version: '3.6.16' }), withRecord({ version: '3.5.35', nextVersion: '3.6.16' }));
const stoppedOnIt = all(newer, crashing, withPod({ version: '3.6.16' }));
const mayStartOnIt = all(newer, waiting, withPod({ version: '3.6.16' }));
const backAgain = all(withRecord({ version: '3.5.35' }), withInputs({ version: '3.5.35' }), made, waiting);
const reverted = (other: (slot: Slot) => Slot) => ({
  ...healthy(2, { spec: { version: '3.5.35' }, membership: down, slots: { 0: stoppedOnIt, 1: other } }),
  clusterVersion: '3.5.0',
});

const runsBelow = all(
  withPod({ version: '3.5.35', ready: false }),
  withEndpoint(endpoint(1, { version: '3.5.35', leader: '0' })),
);
const leaving = withPod({ leaving: true });

describe('a member that may still start on the left minor has its template put right first', () => {
  for (const [what, other] of [
    ['it answers, and without a quorum is not Ready', all(newer, runsBelow)],
    ['it answers, and its pod ends', all(newer, runsBelow, leaving)],
    ['its claim is being deleted, and its pod ends', all(newer, runsBelow, leaving, withVolume({ leaving: true }))],
    ['its pod ends, and never started', all(newer, waiting, withPod({ version: '3.6.16' }), leaving)],
    ['whoever did that died between the two writes', all(newer, runsBelow, withInputs({ version: '3.5.35' }))],
  ] as const) {
    test(what, () => {
      const decision = decide(reverted(other));
      assert.partialDeepStrictEqual(decision, {
        reason: 'CorrectingTemplates',
        action: { kind: 'change-template', peer: { name: 'orders-1' }, inputs: { version: '3.5.35' } },
      });
      const right = all(other, withInputs({ version: '3.5.35' }), made);
      assert.deepEqual(reconfigured(reverted(right)), ['orders-0'], 'then goes back who ran it');
    });
  }

  test('not one whose PVC goes with its pod: a person is told what that holds back, and the cure', () => {
    const decision = decide({
      ...healthy(3, {
        spec: { version: '3.5.35' },
        membership: down,
        slots: { 0: stoppedOnIt, 1: all(mayStartOnIt, withVolume({ leaving: true })), 2: stoppedOnIt },
      }),
      clusterVersion: '3.5.0',
    });
    assert.equal(decision.reason, 'HeldBackByClaim');
    assert.match(decision.message, /orders-0 has run etcd 3\.6\.16, and may go back to 3\.5\.35 only when orders-1/);
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /^set spec\.version to 3\.6\.16 again/);
  });

  test('not one whose pod that ends has run it', () => {
    const decision = decide(reverted(all(newer, withPod({ version: '3.6.16', ready: false }), leaving, crashing)));
    assert.notEqual(decision.reason, 'CorrectingTemplates');
  });
});

describe('a configuration that the spec now asks for', () => {
  for (const [what, observation, peers] of [
    [
      'reaches all of a cluster of which nothing runs',
      healthy(3, { spec, membership: down, every: crashing }),
      [0, 1, 2],
    ],
    ['reaches members whose image cannot be pulled', starting(3, { spec, every: unpullable }), [0, 1, 2]],
    ['reaches members that have no pod', starting(3, { spec, every: without('pod') }), [0, 1, 2]],
    ['reaches only those that are not Ready', healthy(3, { spec, slots: { 1: crashing } }), [1]],
    ['reaches one at a time of those that run in silence', healthy(3, { spec, membership: down, every: frozen }), [0]],
    [
      'reaches those that stopped before any that run in silence',
      healthy(3, { spec, membership: down, every: frozen, slots: { 2: crashing } }),
      [2],
    ],
    ['reaches nobody who is Ready', healthy(3, { spec }), []],
    [
      'reaches the template of one who is Ready, and whose template was already changed to something else',
      healthy(3, { slots: { 1: all(on, withPod({ upToDate: 'no' })) } }),
      [1],
    ],
    [
      'is already in the template of one who is Ready on an older one',
      healthy(3, { slots: { 1: withPod({ upToDate: 'no' }) } }),
      [],
    ],
    ['reaches nobody who answers, Ready or not', healthy(3, { spec, every: withPod({ ready: false }) }), []],
    [
      'reaches nobody whose pod is on its way out',
      healthy(3, { spec, membership: down, every: all(frozen, withPod({ leaving: true })) }),
      [],
    ],
    [
      'reaches none that run in silence while another pod is on its way out',
      healthy(3, { spec, membership: down, every: frozen, slots: { 2: withPod({ leaving: true }) } }),
      [],
    ],
    [
      'reaches nobody while one member is down on it',
      healthy(3, { spec, membership: down, every: crashing, slots: { 0: all(crashing, on) } }),
      [],
    ],
    [
      'stops at a member that cannot pull it',
      starting(3, { spec, every: unpullable, slots: { 0: all(unpullable, on) } }),
      [],
    ],
    [
      'goes on from a member that merely starts on it',
      starting(3, { spec, every: unpullable, slots: { 0: all(waiting, on) } }),
      [1, 2],
    ],
    [
      'is finished where only the peer was told',
      healthy(3, { spec, membership: down, every: crashing, slots: { 0: all(crashing, withInputs({ etcd })) } }),
      [0, 1, 2],
    ],
    [
      'is finished where the pod still has the old template',
      healthy(3, { spec, slots: { 0: all(crashing, on, withPod({ upToDate: 'no' })) } }),
      [0],
    ],
    [
      'is not given again while nobody knows which template the pod has',
      starting(3, { every: withPod({ upToDate: 'unknown' }) }),
      [],
    ],
    ['does nothing to members that have it and merely start', starting(3), []],
    [
      'takes nobody back to a lower minor beside one who may start on the higher: that one first',
      reverted(mayStartOnIt),
      [1],
    ],
    ['then takes back who ran it', reverted(all(backAgain, withPod({ version: '3.5.35' }))), [0]],
  ] as const) {
    test(what, () =>
      assert.deepEqual(
        reconfigured(observation),
        peers.map((n) => `orders-${n}`),
      ),
    );
  }

  test('is the effective one: a refused downgrade reaches no member', () => {
    assert.deepEqual(reconfigured(healthy(3, { spec: { version: '3.5.35' }, membership: down, every: crashing })), []);
  });
});

function on(slot: Slot): Slot {
  return made(withInputs({ etcd })(slot));
}

/** The template follows the peer. */
function made(slot: Slot): Slot {
  if (!slot.peer || !slot.statefulSet) return slot;
  return { ...slot, statefulSet: { ...slot.statefulSet, inputsHash: inputsHash(slot.peer.inputs) } };
}

function reconfigured(observation: Observation): readonly string[] {
  const decision = decide(observation);
  if (decision.kind !== 'act') return [];
  return decision.action.kind === 'reconfigure-members' ? decision.action.peers.map(({ name }) => name) : [];
}

describe('a member that votes, and whose pod another container keeps from being Ready', () => {
  const beside = { name: 'metrics', state: 'waiting', reason: 'ImagePullBackOff', restarts: 0 } as const;
  const held = withPod({ ready: false, beside });
  const corrected = (size: number, slots: Readonly<Record<number, (slot: Slot) => Slot>>, more = spec) =>
    decide(healthy(size, { spec: more, slots }));

  test('gets the spec that corrects that container, one member at a time', () => {
    for (const size of [1, 2, 3]) {
      const decision = corrected(size, { 0: held });
      assert.deepEqual(
        [decision.reason, reconfigured(healthy(size, { spec, slots: { 0: held } }))],
        ['CuringConfiguration', ['orders-0']],
      );
    }
  });

  test('keeps it while another member does not serve, or the commit changes the version', () => {
    for (const other of [held, withPod({ ready: false })])
      assert.notEqual(corrected(3, { 0: held, 1: other }).reason, 'CuringConfiguration');
    assert.deepEqual(reconfigured(healthy(3, { spec, slots: { 0: held, 1: frozen } })), ['orders-1']);
    const upgrade = { ...spec, version: '3.7.3' };
    assert.notEqual(corrected(3, { 0: held }, upgrade).reason, 'CuringConfiguration');
  });

  test('needs a person while it has the spec, and is awaited while its container starts again', () => {
    assert.equal(decide(healthy(3, { slots: { 0: held } })).reason, 'OtherContainerFails');
    const passing = withPod({
      ready: false,
      beside: { ...beside, reason: 'Error', exit: { code: 1, reason: 'Error' } },
    });
    assert.notEqual(corrected(3, { 0: passing }).reason, 'CuringConfiguration');
  });
});

describe('a member on another configuration, beside one that is down on the effective one', () => {
  const broken = all(crashing, withInputs({ etcd: { snapshotCount: 1 } }), made);
  const seen = (third: (slot: Slot) => Slot) =>
    healthy(3, {
      spec,
      membership: down,
      slots: { 0: broken, 1: crashing, 2: third },
      every: all(withInputs(spec), made),
    });

  test('gets it where a third member answers on it: the other is down for a cause of its own', () => {
    assert.deepEqual(reconfigured(seen(withPod({ ready: false }))), ['orders-0']);
    const metrics = { memberId: 'c', hasLeader: false, isLearner: false, applied: 1n, revision: 1n, others: [] };
    const anew = withEndpoint({ kind: 'unknown', cause: 'no quorum since its start', metrics });
    assert.deepEqual(reconfigured(seen(all(withPod({ ready: false }), anew))), ['orders-0']);
  });

  test('does not get it where none answers on it: it may be what broke the other', () => {
    assert.notEqual(decide(seen(frozen)).reason, 'CuringConfiguration');
  });
});
