import type { Written } from '../../../reconcile/cluster/act/requests/request.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Position } from '../../../reconcile/requests/standing.ts';
import type { Visit } from '../search/search.ts';
import { signed } from './certificates.ts';
import type { Code } from './code.ts';
import { serving, settleEtcd } from './etcd.ts';
import type { Event } from './event.ts';
import type { FaultKind, WorldFault } from './fault-kind.ts';
import { worldFaults } from './faults.ts';
import { turned } from './former.ts';
import { commit, type Turn } from './git.ts';
import { advance, claimed, toldIn, withoutActing } from './invocation.ts';
import { happenings, timePasses } from './kubernetes.ts';
import { look } from './look.ts';
import { objectOf } from './objects.ts';
import { consent } from './person.ts';
import { outdated, perform, positionAfter, positionOf, wordsOf, writtenBy } from './sending.ts';
import { type Acting, type Late, type Left, lacking, type State, type World } from './state.ts';
import { referredIn } from './uids.ts';
import { usersForgotten, withStrays } from './user-hands.ts';

export interface Rules {
  readonly code: Code;
  readonly changes: readonly Turn[];
  readonly decide: (world: World) => Decision;
}

/**
 * Everything that may happen next, in this order: what invocations do, what the world does by itself, people, and what
 * goes wrong.
 */
export function successors(state: State, rules: Rules, visit: Visit<State, Event>): void {
  const emit = (event: Event, after: State) => visit(event, followed(state, after, rules.code));
  ticks(state, rules, emit);
  arrivals(state, rules, emit);
  const referred = referredIn(state);
  happenings(state.world, referred, rules.code, (what, name, world) =>
    emit({ who: 'world', what, ...(name !== undefined && { name }) }, { ...state, world }),
  );
  const certified = withSigned(state);
  if (certified) emit({ who: 'world', what: 'the issuer has signed what is asked of it' }, certified);
  const later = timePasses(state.world);
  if (later) emit({ who: 'time', what: 'time passes' }, { ...state, world: later });
  const turn = rules.changes[rules.changes.length - state.left.changes];
  if (turn) take(state, turn, rules, emit);
  if (state.left.total > 0) faults(state, rules, emit);
}

/** What requests and hands certificates over is a step too. */
export function withSigned(state: State): State | undefined {
  if (!state.world.ours || state.acting || state.beside) return undefined;
  const world = signed(state.world, look(state.world, { nonce: '' }));
  return world && { ...state, world: settleEtcd(world) };
}

function take(state: State, turn: Turn, { decide }: Rules, emit: Visit<State, Event>): void {
  if (!('person' in turn)) {
    emit({ who: 'git', what: turn.what }, commit(state, turn));
    return;
  }
  // People are asked only while no invocation acts.
  const after = state.acting ? undefined : consent(state, turn, decide(state.world));
  if (after) emit({ who: 'person', what: turn.what }, after);
}

function ticks(state: State, { code, decide }: Rules, emit: Visit<State, Event>): void {
  const { acting, beside, looked, world } = state;
  if (beside) acts(turned(state), beside, code, (event, after) => emit(event, turned(after)));
  if (looked && (!looked.stale || !code.comparesClaims) && !acting) {
    const { action, reason } = looked;
    const event: Event = { who: 'tick', what: `the other one claims its step (${reason})`, action, begins: true };
    const after = lacking(claimed(lacking(state, 'looked'), action, reason, code), 'looked');
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
    emit({ who: 'tick', what, action, begins: true }, claimed(state, action, reason, code));
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
  const isCompared = sendsNext(state, code, changesAuth);
  for (const [index, late] of state.late.entries()) {
    if (!isCompared || !changesAuth.includes(late.request.kind)) arriving(state, index, late, emit);
  }
}

function arriving(state: State, index: number, late: Late, emit: Visit<State, Event>): void {
  const { former, stale, action, request } = late;
  const sending = {
    referred: referredIn(state),
    late: true,
    ...(former && { former }),
    ...(stale && { blind: stale }),
  };
  const performed = perform(state.world, request, sending);
  const write = writtenBy(request);
  if (performed.kind !== 'answered' || !write) return;
  const rest = { ...state, world: withStrays(state.world, performed.state) };
  const base = { who: 'late', action, write, ...(write.name !== undefined && { name: write.name }) } as const;
  const words = wordsOf(request);
  const event: Event = { ...base, what: `a request arrives: ${words}`, ...(stale && { stale }) };
  emit(event, { ...rest, late: state.late.toSpliced(index, 1) });
  const left = spent(state.left, 'again');
  if (left && write.fence === 'none')
    emit({ ...event, what: `a request arrives, and stays to arrive again: ${words}` }, { ...rest, left });
}

/** What everything that happens means for what was read, and for requests on their way. */
function followed(before: State, after: State, code: Code): State {
  if (before.world === after.world) return after;
  const seen = withOutdated(before, after);
  if (seen.late.length === 0) return seen;
  const late = seen.late.flatMap((one) => {
    const write = writtenBy(one.request);
    return write ? surviving(one, write, before.world, after.world, code) : [];
  });
  return late.every((one, index) => one === seen.late[index]) && late.length === seen.late.length
    ? seen
    : { ...seen, late };
}

/** Of holders who did not do it themselves. */
function withOutdated(before: State, after: State): State {
  let seen = after;
  for (const who of ['acting', 'beside'] as const) {
    const [was, is] = [before[who] ?? before.acting, seen[who]];
    if (!was || !is || was.answers !== is.answers || is.answers.length === 0) continue;
    const answers = outdated(is.answers, before.world, after.world);
    if (answers !== is.answers) seen = { ...seen, [who]: { ...is, answers } };
  }
  return seen;
}

function surviving(late: Late, write: Written, before: World, after: World, code: Code): Late[] {
  const [was, is] = [before, after].map((world) => objectOf(world, write.object, write.name));
  if (write.fence === 'version' && was !== is) return code.fencesWrites ? [] : [{ ...late, stale: true }];
  if (write.fence === 'uid' && is === undefined) return [];
  const { membership } = write;
  if (!membership) return [late];
  const listed = serving(after)?.members;
  if (!listed) return [late];
  const isListed = listed.some(({ id, name: member }) => id === membership.target || member === membership.target);
  // A removed member is gone for ever: nothing about its ID has any effect. An address may be added again.
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
    if (!left || ((kind === 'hand' || kind === 'newer') && sendsNext(state, rules.code, endsPod))) continue;
    if (kind === 'rightsTaken' && sendsNext(state, rules.code, changesAuth)) continue;
    const { what, strike } = worldFaults[kind];
    for (const place of world.places) {
      const after = strike(world, place);
      if (!after) continue;
      const forgot = kind === 'status' ? usersForgotten(state, after) : after;
      emit({ who: 'fault', what, name: place.name }, { ...state, left, world: forgot });
    }
  }
}

/** It has just compared the StatefulSet. Kubernetes has no fence over that and its pod: this gap is milliseconds. */
const endsPod: readonly string[] = ['evictPod', 'deletePod'];
/** It has just compared the revision of etcd's users. etcd has no fence over that. */
const changesAuth: readonly string[] = ['changeAuth'];

function sendsNext({ acting }: State, code: Code, kinds: readonly string[]): boolean {
  const position = acting && positionOf(acting, code);
  return position?.kind === 'asks' && kinds.includes(position.request.kind);
}

/** The acting invocation dies before its next write, after it, or while it is on its way. */
function dying(state: State, { code }: Rules, emit: Visit<State, Event>): void {
  const { acting } = state;
  if (!acting) return;
  dyingAt(state, acting, positionOf(acting, code), code, emit);
}

/** What was only read leaves nothing behind: to die after it is to die before it. */
function dyingAt(state: State, acting: Acting, position: Position, code: Code, emit: Visit<State, Event>): void {
  const { action, answers, former, doomed } = acting;
  const death = spent(state.left, 'death');
  const request = position.kind === 'asks' ? position.request : undefined;
  const write = request && writtenBy(request);
  if (death && (write || !request || answers.length === 0)) {
    const what = `the invocation dies before it ${request ? wordsOf(request) : 'reports'}`;
    emit({ who: 'fault', what }, abandoned({ ...state, left: death }));
  }
  if (!request || !write) return;
  const performed = perform(state.world, request, {
    former: acting.former,
    referred: referredIn(state),
    unguarded: code.letsAnythingGo,
    voters: code.addsVoters,
  });
  if (performed.kind !== 'answered') return;
  const words = wordsOf(request);
  if (death) {
    const base = { who: 'fault', action, write, ...(write.name !== undefined && { name: write.name }) } as const;
    const event: Event = { ...base, what: `the invocation ${words}, and dies` };
    emit(event, abandoned({ ...state, left: death, world: performed.state }));
  }
  const slow = spent(state.left, 'late');
  const isLost = write.fence === 'none' && !write.membership && request.kind !== 'changeAuth';
  if (!slow || write.fence === 'cluster' || isLost) return;
  const late = [...state.late, { action, request, ...(former && { former }) }];
  const frozen = { ...state, left: slow, late };
  emit({ who: 'fault', what: `the invocation freezes when it ${words}: the request is on its way` }, abandoned(frozen));
  const { beside } = position as Extract<Position, { kind: 'asks' }>;
  if (beside === undefined || doomed !== undefined) return;
  const next = { ...acting, answers: [...answers, { refused: unanswered }], doomed: beside };
  const after = positionAfter(acting, next.answers, code);
  if (after.kind !== 'asks' || after.beside !== beside) return;
  const what = `a request is slow, while others sent beside it go on, and the invocation dies: ${words}`;
  emit({ who: 'fault', what }, { ...frozen, acting: next });
}

const unanswered = { class: 'retryable', reason: 'Timeout', message: 'no answer' } as const;

export function abandoned(state: State): State {
  const { acting, world } = state;
  const rest = withoutActing(state);
  if (acting?.action.kind !== 'prepare-members' || acting.former) return rest;
  return { ...rest, world: { ...world, cluster: { ...world.cluster, abandoned: acting.action } } };
}

/** The faults that remain when this one has happened; `undefined`: it can't any more. */
export function spent(left: Left, kind: FaultKind): Left | undefined {
  const times = left.faults[kind] ?? 0;
  if (times === 0 || left.total === 0) return undefined;
  return { ...left, total: left.total - 1, faults: { ...left.faults, [kind]: times - 1 } };
}
