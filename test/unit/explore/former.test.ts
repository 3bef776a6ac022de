import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Action } from '../../../reconcile/cluster/know/action.ts';
import { createConvergence } from '../../explore/ideal.ts';
import { type Code, realCode } from '../../explore/model/code.ts';
import { commit } from '../../explore/model/git.ts';
import { advance, decideIn } from '../../explore/model/invocation.ts';
import { happenings } from '../../explore/model/kubernetes.ts';
import { claimedIn } from '../../explore/model/sending.ts';
import { type Acting, type Late, placeOf, type State, type World, withPlace } from '../../explore/model/state.ts';
import { type Rules, successors } from '../../explore/model/transitions.ts';
import { beginning, healthy } from '../../explore/model/worlds.ts';
import { createFingerprints } from '../../explore/search/fingerprint.ts';

/** As Kubernetes has it: an owner is looked up by its UID, and a namesake has another one. */
describe('what is still made for a resource that has a namesake by now', () => {
  const code = realCode();

  test('is the earlier one’s: a late peer is collected, and the namesake goes on', () => {
    const { peer, volume } = placeOf(healthy({ replicas: 2 }, 6), 'orders-1') ?? {};
    assert.ok(peer && volume?.record.kind === 'valid');
    const { record } = volume.record;
    const action: Action = { kind: 'prepare-members', members: [{ name: 'orders-1', record }], inputs: peer.inputs };
    const request = { kind: 'makePeer', ask: { name: 'orders-1', record, inputs: peer.inputs } };
    const sent = settled(reapplied([{ action, request }]));
    const arrived = following(sent, code, 'a request arrives: creates peer orders-1');
    assert.equal(placeOf(arrived.world, 'orders-1')?.peer?.current, false);
    // orders-1 waits for that, the others do not.
    assert.equal(decideIn(arrived.world, code).reason, 'ApplyingServices');
    assert.equal(comesToRest(arrived, code), undefined);
    assert.equal(placeOf(settled(arrived).world, 'orders-1')?.peer, undefined);
  });

  test('goes with its own owner, whatever else bears its name and stays', () => {
    const world = withPlace(healthy({}, 6), 'orders-1', ({ statefulSet, ...place }) => ({
      ...place,
      ...(statefulSet && { statefulSet: { ...statefulSet, current: false } }),
    }));
    const [left] = ofItself(world);
    const { configMap, statefulSet, pod } = (left && placeOf(left, 'orders-1')) ?? {};
    assert.equal(configMap?.current, true);
    assert.equal(statefulSet, undefined);
    assert.equal(pod?.leaving, true);
  });

  test('is made beside the namesake: neither waits for the other', () => {
    const action: Action = { kind: 'retire-member', name: 'orders-4', clusterId: 'c-token1cluster-1' };
    const state = settled(reapplied([], { action, reason: 'RetiringMember', claimed, answers: [{ answer: [] }] }));
    assert.equal(state.acting, undefined);
    const reported = following(state, code, 'reports');
    assert.equal(reported.beside, undefined);
    const begun = all(state, code).find(({ acting }) => acting);
    assert.notEqual(begun?.acting?.former, true);
    assert.equal(begun?.beside?.former, true);
  });

  test('is not told to the namesake', () => {
    const action: Action = { kind: 'retire-member', name: 'orders-4', clusterId: 'c-token1cluster-1' };
    const acting = {
      action,
      reason: 'RetiringMember',
      claimed,
      answers: [{ answer: [] }],
      former: true,
    } as const;
    const reported = advance({ ...reapplied([]), acting }, acting, code);
    assert.deepEqual(reported?.after.world.cluster.memory, {});
  });
});

const claimed = claimedIn(healthy({ replicas: 2 }, 6));

/**
 * Two members; the resource was deleted and applied again while these requests were on their way, or this one acted.
 */
function reapplied(late: readonly Late[], acting?: Acting): State {
  const world = healthy({ replicas: 2 }, 6);
  const gone: World = { ...world, cluster: { ...world.cluster, deleting: true, gone: true } };
  const left = { changes: 1, faults: {}, total: 0 };
  return commit(
    { ...beginning(gone, left), late, ...(acting && { acting }) },
    { what: 'applied again', resource: 'applied' },
  );
}

function rulesWith(code: Code): Rules {
  return { code, changes: [], decide: (world) => decideIn(world, code) };
}

function following(state: State, code: Code, what: string): State {
  let found: State | undefined;
  successors(state, rulesWith(code), (event, next) => {
    if (event.what === what) found = next;
  });
  assert.ok(found, `nothing of this happens: ${what}`);
  return found;
}

function all(state: State, code: Code): readonly State[] {
  const found: State[] = [];
  successors(state, rulesWith(code), (_, next) => {
    found.push(next);
  });
  return found;
}

/** Each thing that may happen by itself. */
function ofItself(world: World): readonly World[] {
  const all: World[] = [];
  happenings(
    world,
    () => false,
    realCode(),
    (_, __, next) => all.push(next),
  );
  return all;
}

/** Kubernetes is done with all of it. */
function settled(state: State): State {
  let { world } = state;
  for (let round = 0; round < 20; round += 1) {
    const [next] = ofItself(world);
    if (!next) break;
    world = next;
  }
  return { ...state, world };
}

function comesToRest(state: State, code: Code): string | undefined {
  return createConvergence(rulesWith(code), createFingerprints())(state)?.message;
}
