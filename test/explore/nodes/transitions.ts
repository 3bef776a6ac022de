import type { NodesDecision } from '../../../reconcile/nodes/decision.ts';
import type { Visit } from '../search/search.ts';
import { faults, spent } from './faults.ts';
import { happenings } from './happenings.ts';
import { type createInvocations, staleAfter } from './invocation.ts';
import type { Acting, NodesEvent, NodesState, NodesWorld } from './state.ts';

export interface NodesRules {
  readonly decide: (world: NodesWorld) => NodesDecision;
  readonly invocations: ReturnType<typeof createInvocations>;
}

/** Everything that may happen next: what steps do, what the world does by itself, and what goes wrong. */
export function successors(state: NodesState, rules: NodesRules, visit: Visit<NodesState, NodesEvent>): void {
  for (const index of state.acting.keys()) visit(...went(state, index, rules));
  if (state.acting.length === 0) begin(state, rules, state, visit);
  else {
    const second = state.acting.length === 1 && spent(state.left, 'second');
    if (second) begin(state, rules, { ...state, left: second }, visit);
  }
  happenings(state.world, (event, world) => visit(event, turned(state, world)));
  if (state.left.total > 0) faults(state, (event, after) => visit(event, after));
}

/** The world after something that no step did. */
export function turned(state: NodesState, world: NodesWorld): NodesState {
  return { ...state, world, acting: staleAfter(state, state.world, world) };
}

function begin(state: NodesState, rules: NodesRules, after: NodesState, visit: Visit<NodesState, NodesEvent>): void {
  const found = begins(state.world, rules);
  if (!found) return;
  const { event, acting } = found;
  visit(event, acting ? { ...after, acting: [...after.acting, acting] } : turned(after, found.world));
}

/** A step that finds something to do, or something to tell. */
export function begins(world: NodesWorld, { decide, invocations }: NodesRules) {
  const { action } = decide(world);
  const acting: Acting = { saw: world, answers: [], stale: [], holds: [] };
  if (!action) {
    const told = invocations.report(world, acting, { kind: 'none' });
    return told.world === world ? undefined : { event: told.event, world: told.world };
  }
  const event: NodesEvent = {
    who: 'step',
    what: `looks, and decides ${action.kind} of ${action.node}`,
    ...(action.kind === 'grant' && { grants: action.node }),
    ...(action.kind === 'evict' && leaderAmong(world, action.pods)),
  };
  return { event, world, acting };
}

function leaderAmong({ clusters }: NodesWorld, pods: readonly { readonly name: string }[]) {
  const leader = clusters.find(
    ({ leader: one, members }) => members.length > 2 && pods.some(({ name }) => name === `${one}-0`),
  );
  return leader?.leader === undefined ? {} : { evictsLeader: leader.leader };
}

/** One of those that act goes on. */
export function went(state: NodesState, index: number, { invocations }: NodesRules): readonly [NodesEvent, NodesState] {
  const one = state.acting[index];
  if (!one) throw new Error('there is no such invocation');
  const { event, world, acting: next } = invocations.advance(state.world, one);
  const others = staleAfter(state, state.world, world, index);
  const acting = next ? others.with(index, { ...next, stale: others[index]?.stale ?? [] }) : others.toSpliced(index, 1);
  return [event, { ...state, world, acting }];
}
