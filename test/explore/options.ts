import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface Options {
  readonly all: boolean;
  /** Part of the names of those that are wanted; empty: all. */
  readonly scenario: string;
  /** Seconds; absent: as long as it takes. */
  readonly budget?: number;
  readonly workers: number;
  /** At most so many a scenario: each is some hundred bytes. */
  readonly states: number;
  readonly bug?: string;
  readonly random: number;
  readonly swarm: number;
  readonly liveness: number;
  readonly seed?: number;
  readonly list: boolean;
  readonly help: boolean;
}

export const usage = `npm run explore -- [options]

Searches small clusters, with the real rules, for a way in which what must never happen (I1 to I19) happens, or from which
a cluster would not come to rest. Prints the shortest story of each, and ends with 1 if there is any.

  --all              the whole: each scenario to its end, or to 50,000 states, as long as it takes (with two cores a
                     quarter of an hour), then 500 walks of each kind and 1,000 lives. Ends with 1, too, if --budget
                     was over before that, or if it were fewer than 5,000,000 states in sum
  --scenario <text>  only those with this in their names     (--list names them)
  --budget <s>       seconds for all of them                 (280; --all: any)
  --workers <n>      threads                                 (one per core, at most 2)
  --states <n>       at most so many states a scenario       (3,000,000; --all: 50,000)
  --bug <name>       with a seeded bug, which must be found  (--list names them)
  --random <n>       then so many random walks of 150 events (300; --all: 500)
  --swarm <n>        then so many walks, each with a few kinds of faults, through any scenario (0; --all: 500)
  --liveness <n>     then so many lives: a walk with faults, then a quorum is healed, all else may stay dead, and
                     clients must be served, and all must come to rest (0; --all: 1,000)
  --seed <n>         of the walks                            (any; it is printed)
  --list, --help`;

/** @throws {TypeError} for what it does not know. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      all: { type: 'boolean', default: false },
      scenario: { type: 'string', default: '' },
      budget: { type: 'string' },
      workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
      states: { type: 'string' },
      bug: { type: 'string' },
      random: { type: 'string' },
      swarm: { type: 'string' },
      liveness: { type: 'string' },
      seed: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { all } = values;
  if (all && (values.scenario !== '' || values.bug !== undefined))
    throw new TypeError('--all is every scenario: leave --scenario and --bug out');
  const budget = values.budget ?? (all ? undefined : '280');
  return {
    all,
    scenario: values.scenario,
    ...(budget !== undefined && { budget: positive('budget', budget) }),
    workers: positive('workers', values.workers),
    states: positive('states', values.states ?? (all ? '50000' : '3000000')),
    random: whole('random', values.random ?? (all ? '500' : '300')),
    swarm: whole('swarm', values.swarm ?? (all ? '500' : '0')),
    liveness: whole('liveness', values.liveness ?? (all ? '1000' : '0')),
    ...(values.bug !== undefined && { bug: values.bug }),
    ...(values.seed !== undefined && { seed: whole('seed', values.seed) }),
    list: values.list,
    help: values.help,
  };
}

function positive(name: string, text: string): number {
  const value = whole(name, text);
  if (value < 1) throw new TypeError(`--${name} is ${text}; it must be at least 1`);
  return value;
}

function whole(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new TypeError(`--${name} is "${text}", and no whole number`);
  return Number(text);
}
