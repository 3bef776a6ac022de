import { randomInt } from 'node:crypto';
import { share } from './crew.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { explorePrunes, pruneScenario } from './prunes.ts';
import { eventsOfAWalk, walkAtRandom } from './random.ts';
import { count, heading, lineOf, seconds, storyOf, summaryOf } from './report.ts';
import { searched as everyScenario, seeded } from './run.ts';
import { scenarios } from './scenarios.ts';
import { swarm } from './swarm.ts';
import type { Done } from './task.ts';

/** `npm run explore`: see `usage`. */
async function main(options: Options): Promise<number> {
  if (options.help) return said(usage);
  if (options.list) return said(listing());
  const bug = seeded.find(({ name }) => name === options.bug);
  if (options.bug !== undefined && !bug) throw new TypeError(`there is no bug "${options.bug}"; --list names them`);
  const wanted = bug ? [bug.scenario] : [pruneScenario, ...everyScenario];
  const chosen = wanted.filter((name) => name.includes(options.scenario));
  if (chosen.length === 0) throw new TypeError(`no scenario has "${options.scenario}" in its name; --list names them`);

  console.log(heading);
  const begun = performance.now();
  const prunes = chosen.includes(pruneScenario) ? [explorePrunes()] : [];
  prunes.forEach(tell);
  const { workers, states, budget } = options;
  const searched = await share(
    chosen.filter((name) => name !== pruneScenario),
    { workers, states, time: budget * 1000, bug: options.bug, told: tell },
  );
  const all = [...prunes, ...searched];
  if (searched.length > 0)
    console.log(`\n${summaryOf(searched, { time: performance.now() - begun, workers, busy: busy() })}`);
  const sound = all.every(({ found }) => !found);
  return (bug ? true : walks(options) && swarms(options)) && sound ? 0 : 1;
}

/**
 * Of all threads, in milliseconds: what they were given of the processors, on a machine that has other things to do.
 */
function busy(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function tell(done: Done): void {
  console.log(lineOf(done));
  for (const line of storyOf(done)) console.log(line);
}

function walks({ random, seed = randomInt(2 ** 31 - 1), scenario }: Options): boolean {
  if (random === 0 || scenario !== '') return true;
  const begun = performance.now();
  const walked = walkAtRandom(random, seed);
  const took = seconds(performance.now() - begun);
  console.log(
    `\n${walked.walks} random walks of up to ${eventsOfAWalk} events, seed ${seed}: ${count(walked.events)} events, ${walked.found ? 1 : 0} violations, ${took}`,
  );
  console.log(`The same walks again with: npm run explore -- --budget 1 --random ${random} --seed ${seed}`);
  if (!walked.found) return true;
  const { found } = walked;
  tell({ ...nothing, scenario: 'random walk', depth: found.story.length, found });
  return false;
}

function swarms({ swarm: runs, seed = randomInt(2 ** 31 - 1), scenario }: Options): boolean {
  if (runs === 0) return true;
  const begun = performance.now();
  const among = scenarios.filter(({ name }) => name.includes(scenario));
  const swarmed = swarm(runs, seed, { among });
  const took = seconds(performance.now() - begun);
  const { found, events, trace } = swarmed;
  console.log(
    `\n${swarmed.runs} walks of a swarm, seed ${seed}: ${count(events)} events, ${found ? 1 : 0} violations, ${took}, trace ${trace.slice(0, 12)}`,
  );
  if (!found) return true;
  tell({ ...nothing, scenario: found.scenario, depth: found.story.length, found });
  return false;
}

const nothing = { states: 0, transitions: 0, complete: false, took: 0 } as const;

function listing(): string {
  const lines = seeded.map(({ name, violates, what }) => `  ${name.padEnd(20)}${violates.padEnd(13)}${what}`);
  return [
    'Scenarios:',
    `  ${pruneScenario}`,
    ...everyScenario.map((name) => `  ${name}`),
    '',
    'Bugs, and what they violate:',
    ...lines,
  ].join('\n');
}

function said(text: string): number {
  console.log(text);
  return 0;
}

try {
  process.exitCode = await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
