import { quotaBackendBytes } from '../../../manifests/render/quota.ts';
import type { SpaceHost } from '../../../reconcile/cluster/act/requests/host.ts';
import { runnerOf, serving, votersOf, withFormation } from './etcd.ts';
import { clusterIdOf } from './lineage.ts';
import type { Formation, World } from './state.ts';

/** Of sizes the search knows only data that fill their quota: nothing but a larger quota makes room. */
export const spaceIn: SpaceHost<World> = {
  sizes: (world) => {
    const formation = serving(world);
    if (!formation) return [];
    const of = { clusterId: clusterIdOf(formation), size: formation.data?.bytes ?? 0 };
    return votersOf(formation).flatMap(({ id }) => (runnerOf(world, formation, id) ? [{ ...of, memberId: id }] : []));
  },
  alarms: (world) => (serving(world)?.data?.alarm ? [{ memberId: 'a1', alarm: 'NOSPACE' }] : []),
  disarm: (world, { alarm }) => {
    const formation = serving(world);
    if (!formation?.data || alarm !== 'NOSPACE' || isFull(world, formation)) return world;
    return withFormation(world, { ...formation, data: { ...formation.data, alarm: false } });
  },
  compact: (world) => world,
  defragment: (world) => world,
};

/** The next write raises the alarm again. */
function isFull(world: World, formation: Formation): boolean {
  return votersOf(formation).some(({ id }) => {
    const pod = runnerOf(world, formation, id)?.pod;
    return pod !== undefined && quotaBackendBytes(pod.inputs) <= (formation.data?.bytes ?? 0);
  });
}
