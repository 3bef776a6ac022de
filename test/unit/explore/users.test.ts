import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usersUnlike } from '../../explore/auth-invariants.ts';
import { ideal } from '../../explore/ideal.ts';
import { realCode } from '../../explore/model/code.ts';
import { serving } from '../../explore/model/etcd.ts';
import { worldFaults } from '../../explore/model/faults.ts';
import { commit } from '../../explore/model/git.ts';
import { decideIn } from '../../explore/model/invocation.ts';
import { placeOf, type State } from '../../explore/model/state.ts';
import type { Rules } from '../../explore/model/transitions.ts';
import { beginning } from '../../explore/model/worlds.ts';
import { scenarios } from '../../explore/scenarios.ts';

const code = realCode();
const rules: Rules = { code, changes: [], decide: (world) => decideIn(world, code) };

describe('users of etcd, in the search', () => {
  test('are as each commit of their scenario says, and etcd asks for them', () => {
    let state = begun('users of 1');
    for (const [enabled, users] of [
      [true, { 'orders-client': ['orders'], reader: ['reads'] }],
      [true, { 'orders-client': ['orders', 'writes'] }],
      [false, { 'orders-client': ['orders', 'writes'] }],
      [true, { 'orders-client': ['orders'] }],
    ] as const) {
      state = settled(next(state, 'users of 1'));
      const { auth } = serving(state.world) ?? {};
      assert.equal(auth?.enabled, enabled);
      assert.deepEqual(auth?.content?.users, { root: ['root'], ...users });
      assert.equal(rules.decide(state.world).reason, 'Converged');
    }
  });

  test('that other hands made stay, and what they changed of ours is put back', () => {
    const before = settled(next(begun('users of 1, and other hands'), 'users of 1, and other hands')).world;
    for (const kind of ['userMade', 'rightsGiven', 'rightsTaken', 'authTurned'] as const) {
      const place = placeOf(before, 'orders-0') ?? assert.fail('there is no member');
      const struck = worldFaults[kind].strike(before, place) ?? assert.fail(`${kind} can't happen`);
      assert.notDeepEqual(serving(struck)?.auth, serving(before)?.auth);
      const { world } = settled(beginning(struck, { changes: 0, faults: {}, total: 0 }));
      assert.equal(usersUnlike(world), undefined, kind);
      assert.equal(serving(world)?.auth?.content?.users.mallory !== undefined, kind === 'userMade', kind);
    }
  });
});

function begun(name: string): State {
  const { world, changes } = scenarioNamed(name);
  return beginning(world(), { changes: changes.length, faults: {}, total: 0 });
}

function next(state: State, name: string): State {
  const { changes } = scenarioNamed(name);
  const change = changes[changes.length - state.left.changes];
  assert.ok(change && !('person' in change));
  return commit(state, change);
}

function scenarioNamed(name: string) {
  return scenarios.find((one) => one.name === name) ?? assert.fail(name);
}

function settled(state: State): State {
  for (let at = state, steps = 0; steps < 500; steps += 1) {
    const after = ideal(at, rules);
    if (!after) return at;
    at = after;
  }
  assert.fail('it has not come to rest');
}
