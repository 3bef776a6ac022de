import { type Acting, type Late, type Place, type State, type World, withPlace } from './state.ts';

/**
 * Holders, and requests on their way, of a resource that was deleted and has a namesake by now. Whose an object is says
 * the owner's UID that its request carries. What that one left is theirs, what is the namesake's is not, and what they
 * still make is collected, like all whose owner is gone: Kubernetes' garbage collector looks each owner up when it sees
 * the object, whenever that was made.
 */

/** From now on they are the earlier one's. */
export function outlived(state: State): State {
  const { acting, looked, late, ...rest } = state;
  return {
    ...rest,
    late: late.map((one): Late => ({ ...one, former: true })),
    ...(acting && { beside: { ...acting, former: true } }),
    ...(looked && { looked: { ...looked, stale: true } }),
  };
}

/** With the one that acts beside in the place of who acts; and back. */
export function turned(state: State): State {
  const { acting, beside, ...rest } = state;
  return { ...rest, ...(beside && { acting: beside }), ...(acting && { beside: acting }) };
}

/** What they see of the world when they look at it again. */
export function seenBy(who: Pick<Acting, 'former'> | undefined, world: World): World {
  if (!who?.former) return world;
  const places = world.places.map(
    (place): Place => (place.peer ? { ...place, peer: { ...place.peer, current: !place.peer.current } } : place),
  );
  return { ...world, places, shared: sharedOf(world, (state) => swapped[state]) };
}

const swapped = {
  missing: 'missing',
  foreign: 'foreign',
  drifted: 'leftover',
  present: 'leftover',
  leftover: 'present',
} as const;

/** The world after a write of theirs. */
export function leftBy(who: Pick<Acting, 'former'> | undefined, before: World, after: World): World {
  if (!who?.former) return after;
  let world = after;
  for (const [index, { name, peer }] of after.places.entries()) {
    if (!peer || before.places[index]?.peer?.uid === peer.uid) continue;
    world = withPlace(world, name, (place) => ({ ...place, peer: { ...peer, current: false } }));
  }
  return {
    ...world,
    shared: sharedOf(world, (state, kind) => (world.shared[kind] === before.shared[kind] ? state : swapped[state])),
  };
}

/** What a request of theirs makes of the world, which they see otherwise. */
export function actedBy(who: { readonly former?: true | undefined }, world: World, act: (seen: World) => World): World {
  if (!who.former) return act(world);
  const seen = seenBy({ former: true }, world);
  const after = act(seen);
  if (after === seen) return world;
  const places = after.places.map((place, index): Place => {
    const [before, was] = [world.places[index], seen.places[index]];
    if (!place.peer || place.peer === was?.peer) return before?.peer ? { ...place, peer: before.peer } : place;
    const current = place.peer.uid === before?.peer?.uid ? before.peer.current : false;
    return { ...place, peer: { ...place.peer, current } };
  });
  const shared = sharedOf(after, (state, kind) =>
    after.shared[kind] === seen.shared[kind] ? world.shared[kind].state : swapped[state],
  );
  return {
    ...after,
    places: places.map((place, index) => (isSame(place, world.places[index]) ? (world.places[index] as Place) : place)),
    shared,
  };
}

function isSame(place: Place, before: Place | undefined): boolean {
  if (!before) return false;
  const keys = new Set([...Object.keys(place), ...Object.keys(before)]) as Set<keyof Place>;
  return [...keys].every((key) => place[key] === before[key]);
}

type Kind = keyof World['shared'];
type SharedState = World['shared'][Kind]['state'];

function sharedOf(world: World, change: (state: SharedState, kind: Kind) => SharedState): World['shared'] {
  const changed = Object.entries(world.shared).map(([kind, view]) => {
    const state = change(view.state, kind as Kind);
    return [kind, state === view.state ? view : { ...view, state }];
  });
  return Object.fromEntries(changed) as unknown as World['shared'];
}
