import { ideal } from './ideal.ts';
import { realCode } from './model/code.ts';
import { decideIn } from './model/invocation.ts';
import { consent } from './model/person.ts';
import type { State, World } from './model/state.ts';
import type { Rules } from './model/transitions.ts';
import { beginning } from './model/worlds.ts';

/** What has come of this loss when a person has approved, and nothing went wrong. @throws when nothing was to be approved. */
export function recovered(lost: World): World {
  const code = realCode();
  const rules: Rules = { code, changes: [], decide: (world) => decideIn(world, code) };
  const asked = beginning(lost, { changes: 1, faults: {}, total: 0 });
  let state: State | undefined = consent(asked, { what: '', person: 'approves' }, rules.decide(lost));
  let last: World | undefined;
  for (; state; state = ideal(state, rules)) last = state.world;
  if (!last) throw new Error('nothing was to be approved');
  return last;
}
