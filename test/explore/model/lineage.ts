import type { Formation, World } from './state.ts';

/** What comes of a cluster that was forced out of another one, and goes by the same ID. */

/** As etcd tells it. */
export function clusterIdOf({ id, forced }: Formation): string {
  return forced?.clusterId ?? id;
}

/** Those that have forgotten some of its members. */
export function successorsOf({ formations }: World, { id }: Formation): readonly Formation[] {
  return formations.filter(({ forced }) => forced?.from === id);
}

/** The one that took its place when it was given up. */
export function tookItsPlace({ formations }: World, former: Formation): Formation | undefined {
  return formations.find(({ gaveUp }) => gaveUp?.includes(clusterIdOf(former)));
}

/**
 * Whether somebody tells its members that they are members no more: one of those that went on, where they look for one
 * of their own. etcd answers whoever was removed so at once, long before an election is over. At another address nobody
 * would.
 */
export function isTold(world: World, formation: Formation): boolean {
  if (world.formations.length < 2) return false;
  const later = successorsOf(world, formation).map(({ id }) => id);
  return world.places.some(
    ({ name, process }) =>
      process !== undefined &&
      later.includes(process.formation) &&
      formation.members.some((member) => member.name === name),
  );
}
