import type { Decision } from '../../../reconcile/cluster/decision.ts';
import { type Operation, objectOf } from '../programs/program.ts';
import type { Visit } from '../search/search.ts';
import type { Code } from './code.ts';
import { serving } from './etcd.ts';
import type { Event } from './event.ts';
import { type FaultKind, type WorldFault, worldFaults } from './faults.ts';
import { leftBy, seenBy, turned } from './former.ts';
import { commit, type Turn } from './git.ts';
import { advance, carriedOut, claimed, isAccepted, skipping, toldIn, withoutActing } from './invocation.ts';
import { happenings, timePasses } from './kubernetes.ts';
import { consent } from './person.ts';
import { type Acting, type Late, type Left, lacking, type State, type World } from './state.ts';
import { referredIn } from './uids.ts';

export interface Rules {
  readonly code: Code;
  readonly changes: readonly Turn[];
  readonly decide: (world: World) => Decision;
}

/** Everything that may happen next, in this order: what invocations do, what the world does by itself, people, and what goes wrong. */
export function successors(state: State, rules: Rules, visit: Visit<State, Event>): void {
  const emit = (event: Event, after: State) => visit(event, followed(state, after, rules.code));
  ticks(state, rules, emit);
  arrivals(state, rules, emit);
  const referred = referredIn(state);
  happenings(state.world, referred, rules.code, (what, name, world) =>
    emit({ who: 'world', what, ...(name !== undefined && { name }) }, { ...state, world }),
  );
  const later = timePasses(state.world);
  if (later) emit({ who: 'time', what: 'time passes' }, { ...state, world: later });
  const turn = rules.changes[rules.changes.length - state.left.changes];
  if (turn) take(state, turn, rules, emit);
  if (state.left.total > 0) faults(state, rules, emit);
}

function take(state: State, turn: Turn, { decide }: Rules, emit: Visit<State, Event>): void {
  if (!('person' in turn)) {
    emit({ who: 'git', what: turn.what }, commit(state, turn));
    return;
  }
  // What is asked of them is told when nobody acts.
  const after = state.acting ? undefined : consent(state, turn, decide(state.world));
  if (after) emit({ who: 'person', what: turn.what }, after);
}

function ticks(state: State, { code, decide }: Rules, emit: Visit<State, Event>): void {
  const { acting, beside, looked, world } = state;
  if (beside) acts(turned(state), beside, code, (event, after) => emit(event, turned(after)));
  if (looked && (!looked.stale || !code.comparesClaims) && !acting) {
    const { action, reason } = looked;
    const event: Event = { who: 'tick', what: `the other one claims its step (${reason})`, action, begins: true };
    const after = lacking(claimed(lacking(state, 'looked'), action, reason), 'looked');
    emit({ ...event, ...(looked.stale && { stale: true }) }, after);
  }
  if (acting) {
    acts(state, acting, code, emit);
    return;
  }
  if (world.cluster.gone) return;
  const decision = decide(world);
  if (decision.kind === 'act') {
    const { action, reason } = decision;
    const what = `claims ${action.kind} (${reason}: ${decision.message})`;
    emit({ who: 'tick', what, action, begins: true }, claimed(state, action, reason));
    return;
  }
  const told = toldIn(world);
  if (told === world && !looked) return;
  const after = { ...state, world: told, ...(looked && { looked: { ...looked, stale: true } }) };
  emit({ who: 'tick', what: `reports ${decision.reason}` }, after);
}

function acts(state: State, acting: Acting, code: Code, emit: Visit<State, Event>): void {
  const advanced = advance(state, acting, code);
  if (advanced) emit(advanced.event, advanced.after);
  else emit({ who: 'tick', what: acting.doomed ? 'dies' : 'runs out of time' }, withoutActing(state));
}

/** Requests that were sent by holders who are gone. */
function arrivals(state: State, { code }: Rules, emit: Visit<State, Event>): void {
  for (const [index, late] of state.late.entries()) {
    const operation = code.programOf(late.action)[late.at];
    if (!operation?.write || !arrives(state.world, operation, late)) continue;
    const { write, what, name } = operation;
    const world = leftBy(late, state.world, write.apply(state.world, referredIn(state), late.said));
    const rest = { ...state, world };
    const base = { who: 'late', action: late.action, write, ...(name !== undefined && { name }) } as const;
    const event: Event = { ...base, what: `a request arrives: ${what}`, ...(late.stale && { stale: true }) };
    emit(event, { ...rest, late: state.late.toSpliced(index, 1) });
    const left = spent(state.left, 'again');
    if (left && write.fence === 'none')
      emit({ ...event, what: `a request arrives, and stays to arrive again: ${what}` }, { ...rest, left });
  }
}

function arrives(world: World, { write, check, name }: Operation, late: Late): boolean {
  if (!write || write.admits?.(world, true) === false) return false;
  switch (write.fence) {
    case 'absent':
      return objectOf(world, write.object, name) === undefined;
    case 'uid':
      return check?.(seenBy(late, world)) === 'go';
    case 'version':
      return late.stale !== true || objectOf(world, write.object, name) !== undefined;
    case 'none':
      return true;
    case 'claim':
      return false;
  }
}

/** What everything that happens means for requests on their way. */
function followed(before: State, after: State, code: Code): State {
  if (after.late.length === 0 || before.world === after.world) return after;
  const late = after.late.flatMap((one) => {
    const operation = code.programOf(one.action)[one.at];
    return operation ? surviving(one, operation, before.world, after.world, code) : [];
  });
  return late.every((one, index) => one === after.late[index]) && late.length === after.late.length
    ? after
    : { ...after, late };
}

function surviving(late: Late, { write, name }: Operation, before: World, after: World, code: Code): Late[] {
  if (!write) return [];
  const [was, is] = [before, after].map((world) => objectOf(world, write.object, name));
  if (write.fence === 'version' && was !== is) return code.fencesWrites ? [] : [{ ...late, stale: true }];
  if (write.fence === 'uid' && is === undefined) return [];
  const { membership } = write;
  if (!membership) return [late];
  const listed = serving(after)?.members;
  if (!listed) return [late];
  const isListed = listed.some(({ id, name: member }) => id === membership.target || member === membership.target);
  // Who was removed is gone for ever: nothing about that ID has any effect. An address may be added again.
  if (membership.kind !== 'add' && !isListed) return [];
  if (membership.kind === 'add' && isListed && !late.known) return [{ ...late, known: true }];
  return [late];
}

function faults(state: State, rules: Rules, emit: Visit<State, Event>): void {
  dying(state, rules, emit);
  if (state.beside) dying(turned(state), rules, (event, after) => emit(event, turned(after)));
  const { world, acting, looked } = state;
  const second = spent(state.left, 'second');
  if (second && !looked && !acting && !world.cluster.gone) {
    const decision = rules.decide(world);
    if (decision.kind === 'act') {
      const { action, reason } = decision;
      const what = `another invocation looks, decides ${action.kind} (${reason}), and is slow to claim`;
      emit({ who: 'fault', what }, { ...state, left: second, looked: { action, reason, stale: false } });
    }
  }
  for (const kind of Object.keys(worldFaults) as WorldFault[]) {
    const left = spent(state.left, kind);
    if (!left) continue;
    const { what, strike } = worldFaults[kind];
    for (const place of world.places) {
      const after = strike(world, place);
      if (after) emit({ who: 'fault', what, name: place.name }, { ...state, left, world: after });
    }
  }
}

/** Whoever acts dies before its next write, after it, or while it is on its way. */
function dying(state: State, { code }: Rules, emit: Visit<State, Event>): void {
  const { acting } = state;
  if (!acting) return;
  const { action } = acting;
  const program = code.programOf(action);
  const seen = seenBy(acting, state.world);
  const at = skipping(seen, program, acting.at);
  const operation = program[at];
  const death = spent(state.left, 'death');
  if (death)
    emit(
      { who: 'fault', what: `the invocation dies before it ${operation?.what ?? 'reports'}` },
      abandoned({ ...state, left: death }),
    );
  const { write } = operation ?? {};
  if (!operation || !write || (operation.check?.(seen) ?? 'go') !== 'go') return;
  const accepted = isAccepted(state, write);
  if (death && accepted) {
    const world = carriedOut(state, operation);
    const { name } = operation;
    const event: Event = {
      who: 'fault',
      what: `the invocation ${operation.what}, and dies`,
      action,
      write,
      ...(name !== undefined && { name }),
    };
    emit(event, abandoned({ ...state, left: death, world }));
  }
  const slow = spent(state.left, 'late');
  if (!slow || !accepted || write.fence === 'claim' || (write.fence === 'none' && !write.membership)) return;
  const said = write.say?.(seen);
  const sent: Late = { action, at, ...(said !== undefined && { said }), ...(acting.former && { former: true }) };
  const late = [...state.late, sent];
  const frozen = { ...state, left: slow, late };
  emit(
    { who: 'fault', what: `the invocation freezes when it ${operation.what}: the request is on its way` },
    abandoned(frozen),
  );
  if (operation.beside === undefined || program[at + 1]?.beside !== operation.beside || acting.doomed) return;
  const what = `a request is slow, while others sent beside it go on, and the invocation dies: ${operation.what}`;
  emit({ who: 'fault', what }, { ...frozen, acting: { ...acting, at: at + 1, doomed: operation.beside } });
}

function abandoned(state: State): State {
  const { acting, world } = state;
  const rest = withoutActing(state);
  if (acting?.action.kind !== 'prepare-members' || acting.former) return rest;
  return { ...rest, world: { ...world, cluster: { ...world.cluster, abandoned: acting.action } } };
}

/** What is left when this has happened; `undefined`: it can't any more. */
export function spent(left: Left, kind: FaultKind): Left | undefined {
  const times = left.faults[kind] ?? 0;
  if (times === 0 || left.total === 0) return undefined;
  return { ...left, total: left.total - 1, faults: { ...left.faults, [kind]: times - 1 } };
}
