import { votersOf } from './quorum.ts';
import type { Space } from './space-state.ts';
import type { World } from './world.ts';

/**
 * Something changes bytes on the disk of this member, which runs on. The same `how` on two disks is the same damage.
 */
export function spoil(world: World, volume: string, how = 1): void {
  const uid = world.claims().find(({ metadata }) => metadata.name === volume)?.metadata.uid ?? '';
  const data = world.state.disks.get(uid);
  if (!data) throw new Error(`there is nothing on ${volume} to spoil`);
  data.spoiled = how;
}

/** etcd compares what its members compacted, and takes no writes from then on; whom it blames is nobody's proof. */
export function raiseCorrupt(world: World, blamed: readonly string[] = ['0']): void {
  for (const formation of world.formations.values()) formation.corrupt = new Set(blamed);
  world.state.changes += 1;
}

/** The only cluster of the world has that much in it, and as much free in its files; it is out of space. */
export function fillUp(
  world: World,
  { quota, live, history = 0, free = 0 }: { quota: number; live: number; history?: number; free?: number },
): Space {
  const [entry] = world.formations;
  if (!entry) throw new Error('there is no etcd cluster to fill');
  const [clusterId, formation] = entry;
  const used = live + history;
  const members = formation.members.map(({ id }) => [id, { size: used + free, used }] as const);
  const [first = ''] = votersOf(world.state, clusterId);
  const alarms = new Set(used + free >= quota ? [first] : []);
  const empty = { slow: new Set<string>(), cramped: new Set<string>(), asked: [] };
  formation.space = { quota, live, history, alarms, files: new Map(members), ...empty };
  return formation.space;
}
