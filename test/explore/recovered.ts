import { ideal } from './ideal.ts';
import { realCode } from './model/code.ts';
import { decideIn } from './model/invocation.ts';
import { recordIn } from './model/objects.ts';
import { consent } from './model/person.ts';
import type { State, World } from './model/state.ts';
import type { Rules } from './model/transitions.ts';
import { beginning } from './model/worlds.ts';

/** What has come of this loss when a person has approved, and nothing went wrong. */
export function recovered(lost: World): World {
  return following(lost, () => false);
}

/** As far as that every volume is told, and nobody is stopped yet. */
export function begun(lost: World): World {
  return following(
    lost,
    ({ world, acting }) => !acting && world.places.some((place) => recordIn(place)?.state === 'recovering'),
  );
}

/** @throws when nothing was to be approved. */
function following(lost: World, isEnough: (state: State) => boolean): World {
  const code = realCode();
  const rules: Rules = { code, changes: [], decide: (world) => decideIn(world, code) };
  const approved = (state: State) => consent(state, { what: '', person: 'approves' }, rules.decide(state.world));
  let asked: State | undefined = beginning(lost, { changes: 1, faults: {}, total: 0 });
  while (asked && !approved(asked)) asked = ideal(asked, rules);
  let state = asked && approved(asked);
  if (!state) throw new Error('nothing was to be approved');
  for (let next = ideal(state, rules); next && !isEnough(state); next = ideal(state, rules)) state = next;
  return state.world;
}
