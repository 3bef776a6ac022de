import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface Options {
  /** Part of the names of those that are wanted; empty: all. */
  readonly scenario: string;
  /** Seconds. */
  readonly budget: number;
  readonly workers: number;
  /** At most so many a scenario: each is some hundred bytes. */
  readonly states: number;
  readonly bug?: string;
  readonly random: number;
  readonly swarm: number;
  readonly seed?: number;
  readonly list: boolean;
  readonly help: boolean;
}

export const usage = `npm run explore -- [options]

Searches small clusters, with the real rules, for a way in which what must never happen (I1 to I18) happens, or from which
a cluster would not come to rest. Prints the shortest story of each, and ends with 1 if there is any.

  --scenario <text>  only those with this in their names     (--list names them)
  --budget <s>       seconds for all of them                 (280)
  --workers <n>      threads                                 (one per core, at most 2)
  --states <n>       at most so many states a scenario       (3,000,000)
  --bug <name>       with a seeded bug, which must be found  (--list names them)
  --random <n>       then so many random walks of 150 events (300)
  --swarm <n>        then so many walks, each with a few kinds of faults, through any scenario (0)
  --seed <n>         of the walks                            (any; it is printed)
  --list, --help`;

/** @throws {TypeError} for what it does not know. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scenario: { type: 'string', default: '' },
      budget: { type: 'string', default: '280' },
      workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
      states: { type: 'string', default: '3000000' },
      bug: { type: 'string' },
      random: { type: 'string', default: '300' },
      swarm: { type: 'string', default: '0' },
      seed: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    scenario: values.scenario,
    budget: positive('budget', values.budget),
    workers: positive('workers', values.workers),
    states: positive('states', values.states),
    random: whole('random', values.random),
    swarm: whole('swarm', values.swarm),
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
