import { bugs, scenarioOf } from './bugs.ts';
import { realCode } from './model/code.ts';
import { modelOf } from './model/model.ts';
import { scenarios } from './scenarios.ts';
import { search } from './search/search.ts';
import type { Bug } from './seeding.ts';
import type { Done, Task } from './task.ts';

/** One scenario, or what finds a bug, searched. @throws when there is none of that name. */
export function run({ scenario: name, bug: seeded, states, time }: Task): Done {
  const bug = bugs.find((one) => one.name === seeded);
  const scenario = bug ? scenarioOf(bug) : scenarios.find((one) => one.name === name);
  if (!scenario || (seeded !== undefined && !bug)) throw new Error(`there is no ${seeded ?? name}`);
  const begun = performance.now();
  const code = bug ? bug.seed(realCode()) : realCode();
  const found = search(modelOf(scenario, code, { convergence: isAboutRest(bug) }), { states, time });
  return { ...found, scenario: name, took: performance.now() - begun };
}

/** A bug that is about safety is found before the first state that would not come to rest. */
function isAboutRest(bug: Bug | undefined): boolean {
  return bug === undefined || bug.violates === 'convergence';
}
