import { settleEtcd } from './etcd.ts';
import { lacking, type World, withoutVolume, withPlace } from './state.ts';

/** What begins to go when it is deleted. */

/** A PVC that a pod waits for stays until the pod lets go. */
export function lettingGo(world: World, name: string): World {
  const after = withPlace(world, name, (place) => {
    if (!place.volume) return place;
    const isHeld = place.pod !== undefined || place.jobPod !== undefined;
    if (isHeld) return { ...place, volume: { ...place.volume, leaving: true } };
    return withoutVolume(lacking(place, 'process', 'orphan', 'asserted'));
  });
  return settleEtcd(after);
}

export function lettingPodGo(world: World, name: string): World {
  return settleEtcd(
    withPlace(world, name, (place) =>
      place.pod ? { ...place, pod: { ...place.pod, leaving: true, ready: false } } : place,
    ),
  );
}
