import { bugs, scenarioOf } from './bugs.ts';
import { realCode } from './model/code.ts';
import { modelOf } from './model/model.ts';
import { nodesBugs, nodesScenarioOf } from './nodes/bugs.ts';
import { realNodesCode } from './nodes/invocation.ts';
import { nodesModelOf } from './nodes/model.ts';
import { nodesScenarios } from './nodes/scenarios.ts';
import { scenarios } from './scenarios.ts';
import { type Searched, search } from './search/search.ts';
import type { Done, Task } from './task.ts';

/** All scenarios, and all bugs: of clusters, and of nodes that reboot. */
export const searched: readonly string[] = [...nodesScenarios, ...scenarios].map(({ name }) => name);
export const seeded: readonly Pick<(typeof bugs)[number], 'name' | 'what' | 'violates' | 'scenario'>[] = [
  ...bugs,
  ...nodesBugs,
];

/** One scenario, or what finds a bug, searched. @throws when there is none of that name. */
export function run(task: Task): Done {
  const begun = performance.now();
  const found = ofCluster(task) ?? ofNodes(task);
  if (!found) throw new Error(`there is no ${task.bug ?? task.scenario}`);
  return { ...found, scenario: task.scenario, took: performance.now() - begun };
}

function ofCluster({ scenario: name, bug: wanted, ...limits }: Task): Searched | undefined {
  const bug = bugs.find((one) => one.name === wanted);
  const scenario = bug ? scenarioOf(bug) : scenarios.find((one) => one.name === name);
  if (!scenario || (wanted !== undefined && !bug)) return undefined;
  const code = bug ? bug.seed(realCode()) : realCode();
  return search(modelOf(scenario, code, { convergence: isAboutRest(bug) }), limits);
}

function ofNodes({ scenario: name, bug: wanted, ...limits }: Task): Searched | undefined {
  const bug = nodesBugs.find((one) => one.name === wanted);
  const scenario = bug ? nodesScenarioOf(bug) : nodesScenarios.find((one) => one.name === name);
  if (!scenario || (wanted !== undefined && !bug)) return undefined;
  const code = bug ? bug.seed(realNodesCode) : realNodesCode;
  return search(nodesModelOf(scenario, code, { convergence: isAboutRest(bug) }), limits);
}

/** A bug that is about safety is found before the first state that would not come to rest. */
function isAboutRest(bug: { readonly violates: string } | undefined): boolean {
  return bug === undefined || bug.violates === 'convergence' || bug.violates === 'I18';
}
