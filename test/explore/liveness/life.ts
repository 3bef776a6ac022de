import { anyOf, below, type Chance, chosen, type Next, nextOf } from '../chance.ts';
import { destroys } from '../cures.ts';
import { daysPass, restsWrongly } from '../ideal.ts';
import type { Code } from '../model/code.ts';
import type { Event } from '../model/event.ts';
import { decideIn } from '../model/invocation.ts';
import { modelOf } from '../model/model.ts';
import { lacking, type Place, type State } from '../model/state.ts';
import type { Scenario } from '../scenario.ts';
import type { Model, Violation } from '../search/search.ts';
import { type Core, heal } from './core.ts';
import { owed } from './owed.ts';

export interface Life {
  readonly story: readonly string[];
  readonly core?: Core;
  /** Events from the healing to rest. */
  readonly settled: number;
  /** With which reason. */
  readonly rest?: string;
  readonly violation?: Violation;
}

/** A life that is under way. */
interface Going {
  state: State;
  readonly model: Model<State, Event>;
  readonly code: Code;
  readonly chance: Chance;
  readonly story: string[];
  violation?: Violation | undefined;
  /** How often a failed learner is still tried again, each time a day later. */
  retries: number;
}

/** The longest of some ten thousand had 220. */
const bound = 500;
const mostAtRandom = 40;
const mostRetries = 9;

export function live(scenario: Scenario, code: Code, chance: Chance, before: number): Life {
  const model = modelOf(scenario, code, { convergence: false });
  const going: Going = { state: model.initial, model, code, chance, story: [], retries: mostRetries };
  const { story } = going;
  for (let left = before; left > 0 && !going.violation; left -= 1) {
    const next = chosen(nextOf(model, going.state), chance);
    if (!next) break;
    go(going, next);
  }
  const healed = going.violation ? undefined : heal(going.state, chance);
  if (!healed) return ended(going, 0);
  const { core } = healed;
  going.state = healed.state;
  story.push(...healed.told);
  const from = story.length;
  for (let left = below(chance, mostAtRandom); left > 0 && !going.violation; left -= 1) {
    const next = ofThemselves(going);
    if (next.length === 0) break;
    go(going, anyOf(chance, next));
  }
  while (!going.violation && story.length - from < bound) {
    if (!goOn(going)) return { ...atRest(going, core), settled: story.length - from };
  }
  const restless = { invariant: 'liveness', message: `it has not come to rest after ${bound} events` };
  return { ...ended(going, story.length - from), core, violation: going.violation ?? restless };
}

function ended({ story, violation }: Going, settled: number): Life {
  return { story, settled, ...(violation && { violation }) };
}

function go(going: Going, [event, after]: Next): void {
  const { model, state, story } = going;
  story.push(model.describe(event));
  going.violation = model.judge(state, event, after);
  going.state = rehoused(after);
}

/** Another volume of the same name is made on a node that lives, once nothing is left on the one that died. */
function rehoused(state: State): State {
  const isFree = ({ nodeDead, pod, volume, jobPod, hidden, disk }: Place) =>
    nodeDead === true && !pod && !volume && !jobPod && !hidden && !disk;
  if (!state.world.places.some(isFree)) return state;
  const places = state.world.places.map((place) => (isFree(place) ? lacking(place, 'nodeDead', 'off') : place));
  return { ...state, world: { ...state.world, places } };
}

const themselves: ReadonlySet<Event['who']> = new Set(['tick', 'late', 'world', 'time'] as const);

/** What may happen next without faults, commits and people. */
function ofThemselves({ model, state }: Going): readonly Next[] {
  return nextOf(model, state).filter(([{ who }]) => themselves.has(who));
}

/** One more event, as `ideal` goes on, but for requests that arrive at any time. @returns `false`: it is at rest */
function goOn(going: Going): boolean {
  const { state, chance } = going;
  const next = ofThemselves(going);
  const late = next.filter(([{ who }]) => who === 'late');
  const due = late.length > 0 && chance() < 1 / 6 ? anyOf(chance, late) : firstOf(state, next);
  if (due) {
    go(going, due);
    return true;
  }
  if (timePassed(going)) return true;
  if (late.length === 0) return false;
  go(going, anyOf(chance, late));
  return true;
}

/** First the invocation that acts, then the world, then one that begins, then time. */
function firstOf({ acting, beside }: State, next: readonly Next[]): Next | undefined {
  const of = (who: Event['who']) => next.find(([event]) => event.who === who);
  const isActing = (acting ?? beside) !== undefined;
  const acts = isActing ? next.find(([{ who, action }]) => who === 'tick' && action) : undefined;
  return acts ?? of('world') ?? of('tick') ?? of('time');
}

/** Days, for which a wait has lasted, or after which a learner is tried again. */
function timePassed(going: Going): boolean {
  const { state, code, story } = going;
  const { world } = state;
  const decision = decideIn(world, code);
  const later = daysPass(world, decision);
  if (later) {
    story.push('days pass');
    going.state = { ...state, world: later };
    return true;
  }
  const { memory } = world.cluster;
  if (decision.reason !== 'LearnersFail' || memory.failedJoins === undefined || going.retries === 0) return false;
  going.retries -= 1;
  story.push('a day passes, after which a learner is tried again');
  going.state = {
    ...state,
    world: { ...world, cluster: { ...world.cluster, memory: lacking(memory, 'failedJoins') } },
  };
  return true;
}

function atRest(going: Going, core: Core): Omit<Life, 'settled'> {
  const { state, code, story } = going;
  const { world } = state;
  const decision = decideIn(world, code);
  const base = { story, core, rest: `${decision.kind} ${decision.reason}` };
  const harm = destroys(world, decision);
  if (harm !== undefined) return { ...base, violation: { invariant: 'I18', message: harm } };
  const wrong = restsWrongly(world, decision);
  if (wrong !== undefined) return { ...base, violation: { invariant: 'convergence', message: wrong } };
  const message = owed(world, decision, core);
  return message === undefined ? base : { ...base, violation: { invariant: 'liveness', message } };
}
