import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../../reconcile/cluster/know/decision.ts';
import { hasDeparted } from '../../reconcile/cluster/know/life.ts';
import { quorumOf } from '../../reconcile/cluster/know/membership/quorum.ts';
import { usersUnlike } from './auth-invariants.ts';
import { destroys } from './cures.ts';
import { isOpen } from './model/clients.ts';
import { hasQuorum, neverLeads, runnerOf, serving, votersOf } from './model/etcd.ts';
import { turned } from './model/former.ts';
import { advance, claimed, toldIn, withoutActing } from './model/invocation.ts';
import { happenings, timePasses } from './model/kubernetes.ts';
import { lacking, type Place, type State, type World } from './model/state.ts';
import { type Rules, withSigned } from './model/transitions.ts';
import { referredIn } from './model/uids.ts';
import { asksAgain, asksByHalves } from './names-invariants.ts';
import { type Fingerprint, type Fingerprints, keyOf } from './search/fingerprint.ts';
import type { Violation } from './search/search.ts';
import { createSeen } from './search/seen.ts';

/**
 * From here on nothing goes wrong: whoever acts goes on, requests on their way are lost, everything that happens by
 * itself does, and time passes only when nothing else can. The cluster must come to rest: done, and truly so, or with a
 * refusal that names a cure.
 *
 * What comes after a state is told by its world and by who acts in it: what was gone through once need not be again.
 */
export function createConvergence(
  rules: Rules,
  { take, ofWhole }: Fingerprints,
): (state: State) => Violation | undefined {
  const known = createSeen();
  return (state) => {
    const way = new Map<number, Fingerprint>();
    let current: State = lacking({ ...state, late: [] }, 'looked');
    for (let steps = 0; steps < longest; steps += 1) {
      const { world, acting, beside } = current;
      const print = acting || beside ? ofWhole({ world, acting, beside }) : take(world);
      if (known.has(print)) break;
      const key = keyOf(print);
      if (way.has(key)) return wrong(`it goes round in circles, by way of ${circleOf(current, rules)}`);
      way.set(key, print);
      const next = ideal(current, rules);
      if (next === undefined) {
        const decision = rules.decide(current.world);
        const harm = destroys(current.world, decision);
        if (harm !== undefined) return { invariant: 'I18', message: harm };
        const why = restsWrongly(current.world, decision);
        if (why !== undefined) return wrong(why);
        break;
      }
      if (steps === longest - 1) return wrong('it has not come to rest after a thousand steps');
      current = next;
    }
    for (const print of way.values()) known.add(print);
    return undefined;
  };
}

const longest = 1000;

/** Reasons of all decisions on the way round, each once. */
function circleOf(start: State, rules: Rules): string {
  const reasons = new Set<string>();
  let current: State | undefined = start;
  for (let steps = 0; current && steps < longest; steps += 1) {
    if (!current.acting) reasons.add(rules.decide(current.world).reason);
    current = ideal(current, rules);
    if (current && isDeepStrictEqual(current, start)) break;
  }
  return [...reasons].join(', ');
}

function wrong(message: string): Violation {
  return { invariant: 'convergence', message };
}

/** One thing that happens when nothing goes wrong; `undefined`: it is at rest. */
export function ideal(state: State, { code, decide }: Rules): State | undefined {
  const { acting, beside, world } = state;
  if (beside) {
    const advanced = beside.doomed ? undefined : advance(turned(state), beside, code);
    return advanced ? turned(advanced.after) : lacking(state, 'beside');
  }
  if (acting && !acting.doomed) {
    const advanced = advance(state, acting, code);
    if (advanced) return advanced.after;
  }
  const natural = firstHappening(state, code);
  if (natural) return { ...state, world: natural };
  if (acting) return withoutActing(state);
  const certified = withSigned(state);
  if (certified) return certified;
  if (world.cluster.gone) return undefined;
  const decision = decide(world);
  if (decision.kind === 'act') return claimed(state, decision.action, decision.reason, code);
  const told = toldIn(world);
  if (told !== world) return { ...state, world: told };
  const later = timePasses(world) ?? daysPass(world, decision);
  return later && { ...state, world: later };
}

/** A world at rest that waits has soon waited for days: that is a person's then, but for a cause that is named. */
export function daysPass(world: World, { kind, reason }: Decision): World | undefined {
  const { cluster } = world;
  if (kind !== 'wait' || cluster.memory.waited === reason) return undefined;
  return { ...world, cluster: { ...cluster, memory: { ...cluster.memory, waited: reason } } };
}

function firstHappening(state: State, code: Rules['code']): World | undefined {
  let first: World | undefined;
  happenings(state.world, referredIn(state), code, (_, __, after) => {
    first = after;
    return 'enough';
  });
  return first;
}

/** At rest, but not as it should be. */
export function restsWrongly(world: World, decision: Decision): string | undefined {
  const { cluster } = world;
  if (cluster.gone) return leftAlone(world);
  const forgotten = forgottenBy(decision, world);
  if (forgotten !== undefined) return forgotten;
  if (decision.reason === 'TemplateUnread') return unfinished(world);
  if (neverLeads(world) && decision.kind !== 'done' && decision.reason !== 'BirthCutShort')
    return `no member of this birth ever leads, and it says ${decision.reason}`;
  const again = asksAgain(decision, world);
  if (again !== undefined) return again;
  if (decision.kind === 'refuse')
    return decision.cure === '' ? `it refuses (${decision.reason}) and names no cure` : undefined;
  if (decision.kind !== 'done') return `it waits for ever: ${decision.reason}: ${decision.message}`;
  if (decision.reason !== 'Converged') return undefined;
  const formation = serving(world);
  const running = formation
    ? votersOf(formation).filter(({ id }) => world.places.some((one) => one.process?.memberId === id))
    : [];
  if (!formation || running.length !== cluster.spec.replicas || formation.members.length !== running.length) {
    return `it says that it is done, and ${running.length} voters of ${cluster.spec.replicas} run`;
  }
  const other = world.places.find(
    ({ process, outside }) => process && !outside && process.version !== cluster.spec.version,
  );
  if (other) return `it says that it is done, and ${other.name} runs ${other.process?.version}`;
  return asksByHalves(world) ?? usersUnlike(world);
}

/** What needs no comparison of StatefulSets is done all the same: births are finished, and members healed. */
function unfinished(world: World): string | undefined {
  if (world.cluster.spec.replicas === 0) return undefined;
  if (!isOpen(world)) return 'it waits for dry runs, and clients are not let in';
  const voters = votersOf(serving(world) ?? { members: [] });
  const isOut = (place: Place) =>
    place.peer?.current && !hasDeparted(place) && !voters.some(({ id }) => id === place.process?.memberId);
  const silent = voters.find(({ id }) => !world.places.some(({ process }) => process?.memberId === id));
  const name = silent?.name ?? world.places.find(isOut)?.name;
  return name && `it waits for dry runs, and ${name} does not serve`;
}

/** Members that others run were there before ours, and serve on without them, where they hear each other. */
function leftAlone(world: World): string | undefined {
  if (world.apart) return undefined;
  const left = world.formations.find((formation) =>
    votersOf(formation).some(({ id }) => world.places.some((one) => one.outside && one.disk?.memberId === id)),
  );
  if (!left || hasQuorum(world, left)) return undefined;
  // Faults may have taken so many of theirs that they have none by themselves.
  const theirs = votersOf(left).filter(({ name }) => world.places.some((one) => one.outside && one.name === name));
  const running = theirs.filter(({ id }) => runnerOf(world, left, id));
  return running.length < quorumOf(theirs.length)
    ? undefined
    : 'it is deleted, and members of others have no quorum without it';
}

/** I13: members that the spec named when ours joined them are known for as long as they vote. */
function forgottenBy({ reason }: Decision, { cluster, formations, places }: World): string | undefined {
  const { existing } = cluster.memory;
  const isTheirs = (id: string) => existing?.memberIDs.includes(id) === true;
  const left = formations.find(({ members }) => members.some(({ id }) => isTheirs(id)));
  // A late request may have added a learner that is on no disk: that one is unknown.
  const isLate = left?.members.some(({ id }) => !isTheirs(id) && !places.some(({ disk }) => disk?.memberId === id));
  return left && !isLate && reason === 'UnknownMember'
    ? 'it has forgotten members of others that vote beside ours'
    : undefined;
}
