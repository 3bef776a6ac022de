import { settleEtcd } from './etcd.ts';
import { toldIn } from './invocation.ts';
import { timePasses } from './kubernetes.ts';
import { nodeFaults } from './node-faults.ts';
import { lacking, type Place, placeOf, type World } from './state.ts';

/** Clusters that have lost their quorum, and for longer than a member may be down. */

/** The nodes of these died, or are cut off. */
export function withoutNodes(world: World, how: 'node' | 'cut', ordinals: readonly number[]): World {
  return longAgo(struck(world, how, ordinals));
}

/** Somebody has deleted them by force, and nobody has ended them. */
export function withoutPods(world: World, ordinals: readonly number[]): World {
  return longAgo(struck(world, 'force', ordinals));
}

/**
 * The volumes of these are gone, and a backup has what they said and held: data of one moment, so that they would
 * agree.
 */
export function withoutVolumes(world: World, ordinals: readonly number[]): World {
  const gone = (place: Place): Place => {
    const { volume, disk } = place;
    if (!volume || !disk || !ordinals.includes(place.ordinal)) return place;
    return { ...lacking(place, 'volume', 'disk', 'configMap', 'pod', 'process'), backup: { volume, disk } };
  };
  return longAgo(settleEtcd({ ...world, places: world.places.map(gone) }));
}

/** A power failure: those that still run were started without a quorum. */
export function startedAnew(world: World): World {
  const places = world.places.map(
    (place): Place => (place.process ? { ...place, process: { ...place.process, anew: true } } : place),
  );
  return { ...world, places };
}

function struck(world: World, how: keyof typeof nodeFaults, ordinals: readonly number[]): World {
  const names = world.places.filter(({ ordinal }) => ordinals.includes(ordinal)).map(({ name }) => name);
  return names.reduce<World>((now, name) => {
    const place = placeOf(now, name);
    return (place && nodeFaults[how].strike(now, place)) ?? now;
  }, world);
}

/** So long that nothing changes by time alone. */
function longAgo(world: World): World {
  let current = toldIn(world);
  for (let later = timePasses(current); later; later = timePasses(current)) current = later;
  return current;
}
