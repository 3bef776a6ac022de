import { isDeepStrictEqual } from 'node:util';
import type { Action } from '../../../reconcile/cluster/know/action.ts';
import { existingKept } from '../../../reconcile/cluster/know/adoption/kept.ts';
import { floorOf } from '../../../reconcile/cluster/know/backups/revisions.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import { ailmentOf } from '../../../reconcile/cluster/know/health/health.ts';
import { isReported } from '../../../reconcile/cluster/know/leftovers.ts';
import { isAsleep, lifeOf } from '../../../reconcile/cluster/know/life.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { soakOf } from '../../../reconcile/cluster/know/versions/soak.ts';
import { authStatus } from '../../../reconcile/cluster/report/auth.ts';
import type { Position } from '../../../reconcile/requests/standing.ts';
import type { Code } from './code.ts';
import type { Event } from './event.ts';
import { look } from './look.ts';
import { claimedIn, outdated, perform, positionAfter, positionOf, wordsOf, writtenBy } from './sending.ts';
import { type Acting, lacking, type Memory, type Place, type State, type World } from './state.ts';
import { referredIn } from './uids.ts';

/** One invocation: it looks, decides, leases, acts, reports. */

export function nonceOf({ cluster }: World): string {
  const { generation, uid, rollbacks = 0 } = cluster;
  return `token${generation}${uid}${rollbacks > 1 ? `.${rollbacks}` : ''}`;
}

export function decideIn(world: World, code: Code): Decision {
  return code.decide(look(world, { nonce: nonceOf(world), forgetful: !code.remembersOutvoted }));
}

/** It has leased: everybody else waits from now on, and whoever looked before comes too late. */
export function claimed(
  state: State,
  action: Action,
  reason: string,
  { tellsUsersLate }: Pick<Code, 'tellsUsersLate'> = {},
): State {
  const { looked, world } = state;
  const cluster = lacking(world.cluster, 'abandoned');
  const { auth } = cluster.spec;
  const memory = keepingExisting(world, action);
  return {
    ...state,
    world: { ...world, cluster: { ...cluster, memory: tellsUsersLate ? memory : withUsers(world, action, memory) } },
    acting: { action, reason, claimed: claimedIn(world), ...(auth && { auth }), answers: [] },
    ...(looked && { looked: { ...looked, stale: true } }),
  };
}

/** With the lease: what is taken over is known before anything joins it. */
function keepingExisting(world: World, action: Action): Memory {
  const { spec, memory } = world.cluster;
  if (!spec.bootstrap?.existing && !memory.existing) return memory;
  const observation = look(world, { nonce: '' });
  const existing = existingKept({ ...observation, life: lifeOf(observation) }, action);
  if (isDeepStrictEqual(existing, memory.existing)) return memory;
  return existing ? { ...memory, existing } : lacking(memory, 'existing');
}

/** With the lease, too: users that are to be made are known before any is. */
function withUsers(world: World, action: Action, memory: Memory): Memory {
  const auth = action.kind === 'keep-users' ? usersIn(world, look(world, { nonce: '' })) : undefined;
  return auth ? { ...memory, auth } : memory;
}

export interface Advanced {
  readonly event: Event;
  readonly after: State;
}

/** The next request of whoever acts. With the last one it reports; `undefined`: it polls for something. */
export function advance(state: State, acting: Acting, code: Code): Advanced | undefined {
  return sent(state, acting, positionOf(acting, code), code);
}

function sent(state: State, acting: Acting, position: Position, code: Code): Advanced | undefined {
  const { action, doomed } = acting;
  if (doomed !== undefined && (position.kind !== 'asks' || position.beside !== doomed)) return undefined;
  if (position.kind !== 'asks') {
    const what = position.kind === 'done' ? 'reports' : `stops: ${position.failure.message}`;
    return { event: { who: 'tick', action, what }, after: reported(state, acting, position.kind === 'done') };
  }
  const { request } = position;
  const performed = perform(state.world, request, {
    former: acting.former,
    referred: referredIn(state),
    unguarded: code.letsAnythingGo,
    voters: code.addsVoters,
  });
  if (performed.kind === 'wait') return undefined;
  const write = writtenBy(request);
  const base = { who: 'tick', action, ...(write?.name !== undefined && { name: write.name }) } as const;
  const isRefused = performed.kind === 'refused';
  const world = isRefused ? state.world : performed.state;
  const answered = isRefused ? { refused: performed.failure } : { answer: performed.answer };
  const answers = [...outdated(acting.answers, state.world, world), answered];
  const next = { ...acting, answers };
  const after = positionAfter(acting, answers, code);
  const what = isRefused ? `${wordsOf(request)}: refused: ${performed.failure.message}` : wordsOf(request);
  const event: Event = { ...base, what, ...(write && !isRefused && { write }) };
  const rest = { ...state, world };
  if (code.readsAtOnce && !write && after.kind === 'asks') {
    const further = sent(rest, next, after, code);
    if (further) return further;
  }
  if (after.kind !== 'asks' && doomed === undefined)
    return { event, after: reported(rest, next, after.kind === 'done') };
  return { event, after: { ...rest, acting: next } };
}

/** Writes the status, also when the action did not get through; never that of a namesake. */
export function reported(state: State, { action, reason, former }: Acting, done: boolean): State {
  if (former) return withoutActing(state);
  const { cluster } = state.world;
  const before = lacking(cluster.memory, 'waited');
  const memory = done ? remembering(before, action, reason) : before;
  const world = toldIn({ ...state.world, cluster: { ...cluster, memory } }, action);
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

/** It is told from when it is waited for to when no member keeps the minor before. */
function soakIn({ cluster: { spec, memory } }: World, observation: Observation): Memory['soak'] {
  const soak = spec.update?.soak === undefined ? undefined : soakOf(situate(observation));
  if (!soak || memory.soak?.version === soak.version) return soak && memory.soak;
  const runsIt = ({ peer, endpoint }: Slot) =>
    !peer?.current || (endpoint.kind === 'known' && endpoint.status.version === soak.version);
  return observation.slots.every((slot) => soak.keepers.some(({ name }) => name === slot.name) || runsIt(slot))
    ? { version: soak.version }
    : undefined;
}

function usersIn({ cluster: { spec } }: World, observation: Observation): Memory['auth'] {
  return spec.auth && authStatus(situate(observation));
}

/** Records which members are unhealthy, and which cluster it is. */
export function toldIn(world: World, action?: Action): World {
  const observation = look(world, { nonce: '' });
  const { slots, membership } = observation;
  const places = world.places.map((place): Place => {
    const slot = slots.find(({ name }) => name === place.name);
    const isIll = slot && isReported(slot) && !isAsleep(slot) && ailmentOf(slot, observation) !== undefined;
    if (!isIll) return place.ill === undefined ? place : lacking(place, 'ill');
    return place.ill === undefined ? { ...place, ill: 0 } : place;
  });
  const { memory } = world.cluster;
  const life = lifeOf(observation);
  const isUnborn = life.stage === 'unborn';
  const clusterId = membership.kind === 'known' && !isUnborn ? membership.clusterId : memory.clusterId;
  const clusterVersion = observation.clusterVersion ?? memory.clusterVersion;
  const floor = world.clients && (floorOf(observation, life) ?? memory.floor);
  const existing = existingKept({ ...observation, life }, action);
  const auth = usersIn(world, observation);
  const soak = soakIn(world, observation);
  const same =
    clusterId === memory.clusterId &&
    clusterVersion === memory.clusterVersion &&
    floor === memory.floor &&
    isDeepStrictEqual(soak, memory.soak) &&
    isDeepStrictEqual(auth, memory.auth) &&
    isDeepStrictEqual(existing, memory.existing);
  const told = same
    ? memory
    : {
        ...lacking(lacking(lacking(memory, 'existing'), 'soak'), 'auth'),
        ...(auth && { auth }),
        ...(soak && { soak }),
        ...(existing && { existing }),
        ...(clusterId && { clusterId }),
        ...(clusterVersion && { clusterVersion }),
        ...(floor !== undefined && { floor }),
      };
  const isNew = places.some((place, index) => place !== world.places[index]) || told !== memory;
  return isNew ? { ...world, places, cluster: { ...world.cluster, memory: told } } : world;
}
