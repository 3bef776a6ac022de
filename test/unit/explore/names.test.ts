import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ideal } from '../../explore/ideal.ts';
import { realCode } from '../../explore/model/code.ts';
import { formationOf, hasQuorum, isServed, settleEtcd } from '../../explore/model/etcd.ts';
import { commit } from '../../explore/model/git.ts';
import { decideIn } from '../../explore/model/invocation.ts';
import { namedLeaf, plainLeaf } from '../../explore/model/leaves.ts';
import { consent } from '../../explore/model/person.ts';
import { placeOf, type State, type World, withPlace } from '../../explore/model/state.ts';
import type { Rules } from '../../explore/model/transitions.ts';
import { beginning } from '../../explore/model/worlds.ts';
import { scenarios } from '../../explore/scenarios.ts';

const code = realCode();
const rules: Rules = { code, changes: [], decide: (world) => decideIn(world, code) };

function scenarioNamed(name: string) {
  return scenarios.find((one) => one.name === name) ?? assert.fail(name);
}

describe('names by which members let in, in the search', () => {
  for (const name of ['names of 3', 'names of 1'])
    test(`${name}: leaves get them, a person is asked, and members restart one by one`, () => {
      const { world, changes } = scenarioNamed(name);
      const [asks, approves] = changes;
      assert.ok(asks && approves && !('person' in asks) && 'person' in approves);
      const waiting = settled(commit(beginning(world(), { changes: 2, faults: {}, total: 0 }), asks));
      assert.equal(rules.decide(waiting.world).reason, 'NamesNotApproved');
      assert.deepEqual(asking(waiting.world), []);
      const approved = consent(waiting, approves, rules.decide(waiting.world)) ?? assert.fail('nothing is asked');
      const { world: done } = settled(approved);
      assert.equal(rules.decide(done).reason, 'Converged');
      assert.equal(asking(done).length, done.cluster.spec.replicas);
    });

  test('keep a member that asks from those that show none, and them from it', () => {
    const alone = asksIn(begun(), 'orders-1');
    assert.deepEqual(servedIn(alone), ['orders-0', 'orders-2']);
    assert.deepEqual(servedIn(asksIn(alone, 'orders-2')), []);
    const named = withPlace(begun(), 'orders-0', ({ process, ...place }) => ({
      ...place,
      ...(process && { process: { ...process, shows: namedLeaf } }),
    }));
    assert.deepEqual(servedIn(asksIn(asksIn(named, 'orders-0'), 'orders-2')), []);
    assert.deepEqual(servedIn(begun(namedLeaf)), ['orders-0', 'orders-1', 'orders-2']);
    assert.deepEqual(servedIn(asksIn(begun(namedLeaf), 'orders-1')), ['orders-0', 'orders-1', 'orders-2']);
  });
});

function settled(state: State): State {
  for (let at = state, steps = 0; steps < 500; steps += 1) {
    const next = ideal(at, rules);
    if (!next) return at;
    at = next;
  }
  assert.fail('it has not come to rest');
}

function asking({ places }: World): readonly string[] {
  return places.flatMap(({ name, process }) => (process?.asks ? [name] : []));
}

/** All three run, and show this leaf. */
function begun(leaf = plainLeaf): World {
  const world = scenarioNamed('names of 3').world();
  const places = world.places.map((place) => ({
    ...place,
    ...(place.process && { process: { ...place.process, shows: leaf } }),
  }));
  return settleEtcd({ ...world, ours: leaf, places });
}

function asksIn(world: World, name: string): World {
  const { process } = placeOf(world, name) ?? {};
  assert.ok(process);
  return settleEtcd(withPlace(world, name, (place) => ({ ...place, process: { ...process, asks: true } })));
}

function servedIn(world: World): readonly string[] {
  const formation = formationOf(world, world.formations[0]?.id) ?? assert.fail('there is none');
  const served = world.places.flatMap((place) => (place.process && isServed(world, place) ? [place.name] : []));
  assert.equal(served.length > 0, hasQuorum(world, formation));
  return served;
}
