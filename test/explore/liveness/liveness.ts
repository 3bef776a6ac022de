import { createHash } from 'node:crypto';
import { below, chanceFrom, faultyOf, goesTwoWays } from '../chance.ts';
import { type Code, realCode } from '../model/code.ts';
import type { Scenario } from '../scenario.ts';
import { scenarios } from '../scenarios.ts';
import type { Violation } from '../search/search.ts';
import { type Life, live } from './life.ts';

/**
 * Walks at random with faults, as a swarm does. Then a quorum is healed, and all else may stay dead for ever. The story
 * must come to rest with clients served, and what it leaves undone must have a cause that is true.
 */
export interface Lived {
  readonly runs: number;
  readonly events: number;
  /** How many had a core: where the disks of a quorum are gone, only a person could heal. */
  readonly cores: number;
  /** Events of the longest way from the healing to rest. */
  readonly longest: number;
  /** How many came to rest with which reason. */
  readonly rests: ReadonlyMap<string, number>;
  /** Of all that happened: the same for the same seed. */
  readonly trace: string;
  readonly found?: Found;
}

interface Found {
  readonly scenario: string;
  /** With this seed it is the first run. */
  readonly seed: number;
  readonly violation: Violation;
  readonly story: readonly string[];
}

interface Lives {
  readonly code?: Code;
  readonly among?: readonly Scenario[];
}

/** So many runs are gone through twice. */
const oneIn = 10;

export function liveness(runs: number, seed: number, { code = realCode(), among = scenarios }: Lives = {}): Lived {
  const hash = createHash('sha256');
  const rests = new Map<string, number>();
  let [events, cores, longest] = [0, 0, 0];
  for (let run = 0; run < runs; run += 1) {
    const mine = seed + run;
    const one = lived(mine, code, among);
    const { scenario, life } = one;
    const { story, core, settled, rest } = life;
    events += story.length;
    hash.update(textOf(one));
    if (core) cores += 1;
    longest = Math.max(longest, settled);
    if (rest !== undefined) rests.set(rest, (rests.get(rest) ?? 0) + 1);
    const isTwice = run % oneIn === 0 && life.violation === undefined;
    const differs = isTwice && textOf(lived(mine, code, among)) !== textOf(one);
    const violation = differs ? goesTwoWays(mine) : life.violation;
    if (violation) {
      const found = { scenario: scenario.name, seed: mine, violation, story };
      return { runs: run + 1, events, cores, longest, rests, trace: hash.digest('hex'), found };
    }
  }
  return { runs, events, cores, longest, rests, trace: hash.digest('hex') };
}

interface Run {
  readonly scenario: Scenario;
  readonly life: Life;
}

/** A core needs places for as many members as it replaces. */
const room = 3;
const mostEventsBefore = 100;

function lived(seed: number, code: Code, among: readonly Scenario[]): Run {
  const chance = chanceFrom(seed);
  const scenario = faultyOf(chance, among, room);
  return { scenario, life: live(scenario, code, chance, 5 + below(chance, mostEventsBefore)) };
}

function textOf({ scenario: { name }, life: { story, rest = 'none' } }: Run): string {
  return `${name}\n${story.join('\n')}\n${rest}\n`;
}
