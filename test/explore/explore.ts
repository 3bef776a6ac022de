import { randomInt } from 'node:crypto';
import { share } from './crew.ts';
import { livenessBugs } from './liveness/bugs.ts';
import { liveness } from './liveness/liveness.ts';
import { realCode } from './model/code.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { explorePrunes, pruneScenario } from './prunes.ts';
import { eventsOfAWalk, goesAgain, walkAtRandom } from './random.ts';
import { count, heading, lackOf, lineOf, seconds, storyOf, summaryOf } from './report.ts';
import { searched as everyScenario, seeded } from './run.ts';
import { scenarios } from './scenarios.ts';
import { swarm } from './swarm.ts';
import type { Done } from './task.ts';

/** `npm run explore`: see `usage`. */
async function main(options: Options): Promise<number> {
  if (options.help) return said(usage);
  if (options.list) return said(listing());
  if (livenessBugs.some(({ name }) => name === options.bug))
    return lives({ ...options, liveness: options.liveness || enough }) ? 0 : 1;
  const bug = seeded.find(({ name }) => name === options.bug);
  if (options.bug !== undefined && !bug) throw new TypeError(`there is no bug "${options.bug}"; --list names them`);
  const wanted = bug ? [bug.scenario] : [pruneScenario, ...everyScenario];
  const chosen = wanted.filter((name) => name.includes(options.scenario));
  if (chosen.length === 0) throw new TypeError(`no scenario has "${options.scenario}" in its name; --list names them`);

  console.log(heading);
  const begun = performance.now();
  const prunes = chosen.includes(pruneScenario) ? [explorePrunes()] : [];
  prunes.forEach(tell);
  const { workers, states, budget = Number.POSITIVE_INFINITY } = options;
  const searched = await share(
    chosen.filter((name) => name !== pruneScenario),
    { workers, states, time: budget * 1000, bug: options.bug, told: tell },
  );
  const all = [...prunes, ...searched];
  if (searched.length > 0)
    console.log(`\n${summaryOf(searched, { time: performance.now() - begun, workers, busy: busy() })}`);
  const lack = options.all ? lackOf(searched) : [];
  for (const line of lack) console.log(line);
  const isSound = all.every(({ found }) => !found) && lack.length === 0;
  return (bug ? true : walks(options) && swarms(options) && lives(options)) && isSound ? 0 : 1;
}

/** Lives in which a bug of theirs is found. */
const enough = 300;

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
  if (!walked.found) {
    const isSame = goesAgain(walked, Math.ceil(random / 10));
    console.log(isSame ? 'A tenth of them were gone twice, and went the same way.' : `seed ${seed} went two ways`);
    return isSame;
  }
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
  console.log(`The same walk again with: ${again(scenario)} --swarm 1 --seed ${found.seed}`);
  tell({ ...nothing, scenario: found.scenario, depth: found.story.length, found });
  return false;
}

function lives({ liveness: runs, seed = randomInt(2 ** 31 - 1), scenario, bug: name }: Options): boolean {
  if (runs === 0) return true;
  const begun = performance.now();
  const among = scenarios.filter((one) => one.name.includes(scenario));
  const code = livenessBugs.find((one) => one.name === name)?.seed(realCode()) ?? realCode();
  const { found, events, cores, longest, rests, trace, ...lived } = liveness(runs, seed, { among, code });
  const took = seconds(performance.now() - begun);
  console.log(
    `\n${lived.runs} lives, of which ${cores} had a quorum that could be healed, seed ${seed}: ${count(events)} events, at rest at most ${longest} after that, ${rests.size} ways to rest, ${found ? 1 : 0} violations, ${took}, trace ${trace.slice(0, 12)}`,
  );
  if (!found) return true;
  console.log(`The same life again with: ${again(scenario)} --liveness 1 --seed ${found.seed}`);
  tell({ ...nothing, scenario: found.scenario, depth: found.story.length, found });
  return false;
}

/** The beginning of a command that goes one walk again. */
function again(scenario: string): string {
  return `npm run explore -- --budget 1 --random 0${scenario === '' ? '' : ` --scenario '${scenario}'`}`;
}

const nothing = { states: 0, transitions: 0, complete: false, took: 0 } as const;

function listing(): string {
  const lines = [...seeded, ...livenessBugs].map(
    ({ name, violates, what }) => `  ${name.padEnd(20)}${violates.padEnd(13)}${what}`,
  );
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
