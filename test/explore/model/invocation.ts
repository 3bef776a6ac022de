import type { Action } from '../../../reconcile/cluster/actions.ts';
import type { Decision } from '../../../reconcile/cluster/decision.ts';
import { ailmentOf } from '../../../reconcile/cluster/health.ts';
import { isToBeTold } from '../../../reconcile/cluster/leftovers.ts';
import { isAsleep } from '../../../reconcile/cluster/life.ts';
import type { Operation, Write } from '../programs/program.ts';
import type { Code } from './code.ts';
import type { Event } from './event.ts';
import { leftBy, seenBy } from './former.ts';
import { look } from './look.ts';
import { type Acting, lacking, type Memory, type Place, type State, type World } from './state.ts';
import { referredIn } from './uids.ts';

/** One invocation: it looks, decides, claims, acts, reports. */

export function nonceOf({ cluster }: World): string {
  return `token${cluster.generation}${cluster.uid}`;
}

export function decideIn(world: World, code: Code): Decision {
  return code.decide(look(world, { nonce: nonceOf(world), forgetful: !code.remembersOutvoted }));
}

/** It has claimed: everybody else waits from now on, and whoever looked before comes too late. */
export function claimed(state: State, action: Action, reason: string): State {
  const { looked } = state;
  return {
    ...state,
    world: { ...state.world, cluster: lacking(state.world.cluster, 'abandoned') },
    acting: { action, reason, at: 0 },
    ...(looked && { looked: { ...looked, stale: true } }),
  };
}

export interface Advanced {
  readonly event: Event;
  readonly after: State;
}

/** The next operation of whoever acts. With the last one it reports; `undefined`: it polls for something. */
export function advance(state: State, acting: Acting, code: Code): Advanced | undefined {
  const { action } = acting;
  const program = code.programOf(action);
  const seen = seenBy(acting, state.world);
  const at = skipping(seen, program, acting.at);
  const operation = program[at];
  const name = operation?.name;
  const base = { who: 'tick', action, ...(name !== undefined && { name }) } as const;
  if (acting.doomed !== undefined && operation?.beside !== acting.doomed) return undefined;
  if (!operation) return { event: { ...base, what: 'reports' }, after: reported(state, acting, true) };
  const check = operation.check?.(seen) ?? 'go';
  if (check === 'wait') return undefined;
  if (check === 'done') return { event: { ...base, what: 'finds it done' }, after: reported(state, acting, true) };
  if (typeof check === 'object') {
    return { event: { ...base, what: `stops: ${check.refused}` }, after: reported(state, acting, false) };
  }
  const { write } = operation;
  if (!write)
    return { event: { ...base, what: operation.what }, after: { ...state, acting: { ...acting, at: at + 1 } } };
  if (!isAccepted(state, write)) {
    return { event: { ...base, what: `${operation.what}: refused` }, after: reported(state, acting, false) };
  }
  const world = carriedOut(state, operation);
  const next = skipping(seenBy(acting, world), program, at + 1);
  const event: Event = { ...base, what: operation.what, write };
  const rest = { ...state, world };
  if (next >= program.length && acting.doomed === undefined) return { event, after: reported(rest, acting, true) };
  return { event, after: { ...rest, acting: { ...acting, at: next } } };
}

export function skipping(world: World, program: readonly Operation[], from: number): number {
  let at = from;
  while (at < program.length && program[at]?.check?.(world) === 'skip') at += 1;
  return at;
}

/** Whether what whoever acts sends now gets through; a claim is of one resource, and of no namesake. */
export function isAccepted({ world, acting }: State, { fence, admits }: Write): boolean {
  if (acting?.former && fence === 'claim') return false;
  return admits?.(world, false) !== false;
}

export function carriedOut(state: State, { write }: Operation): World {
  const { world, acting } = state;
  if (!write) return world;
  return leftBy(acting, world, write.apply(world, referredIn(state), write.say?.(seenBy(acting, world))));
}

/** What is written into the status, also when the action did not get through; never into that of a namesake. */
export function reported(state: State, { action, reason, former }: Acting, done: boolean): State {
  if (former) return withoutActing(state);
  const { cluster } = state.world;
  const memory = done ? remembering(cluster.memory, action, reason) : cluster.memory;
  const world = toldIn({ ...state.world, cluster: { ...cluster, memory } });
  return withoutActing({ ...state, world, ...(state.looked && { looked: { ...state.looked, stale: true } }) });
}

export function withoutActing(state: State): State {
  return lacking(state, 'acting');
}

function remembering(memory: Memory, action: Action, reason: string): Memory {
  if (reason === 'PromotingLearner') return lacking(memory, 'failedJoins');
  if (reason === 'RemovingFailedLearner') return { ...memory, failedJoins: Math.min(2, (memory.failedJoins ?? 0) + 1) };
  if (action.kind !== 'retire-member' || memory.retired?.includes(action.name)) return memory;
  return { ...memory, retired: [...(memory.retired ?? []), action.name].toSorted() };
}

/** Who is unhealthy, and which cluster it is. */
export function toldIn(world: World): World {
  const observation = look(world, { nonce: '' });
  const { slots, membership } = observation;
  const places = world.places.map((place): Place => {
    const slot = slots.find(({ name }) => name === place.name);
    const isIll = slot && isToBeTold(slot) && !isAsleep(slot) && ailmentOf(slot, observation) !== undefined;
    if (!isIll) return place.ill === undefined ? place : lacking(place, 'ill');
    return place.ill === undefined ? { ...place, ill: 0 } : place;
  });
  const { memory } = world.cluster;
  const clusterId = membership.kind === 'known' ? membership.clusterId : memory.clusterId;
  const clusterVersion = observation.clusterVersion ?? memory.clusterVersion;
  const same = clusterId === memory.clusterId && clusterVersion === memory.clusterVersion;
  const told = same
    ? memory
    : { ...memory, ...(clusterId && { clusterId }), ...(clusterVersion && { clusterVersion }) };
  const isNew = places.some((place, index) => place !== world.places[index]) || told !== memory;
  return isNew ? { ...world, places, cluster: { ...world.cluster, memory: told } } : world;
}
