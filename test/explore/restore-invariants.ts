import { formationOf } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import type { State } from './model/state.ts';

/**
 * What a restore must never do, looked at in the truth. I11: it writes over no data that an etcd has opened; of one
 * birth there is one restored member; and a cluster that asks for a snapshot never starts without it.
 */
export function restoresOnce({ world: before }: State, _: Event, { world: after }: State): string | undefined {
  for (const [index, { name, disk }] of after.places.entries()) {
    const was = before.places[index]?.disk;
    if (disk?.made === undefined || disk.made === was?.made) continue;
    if (was && was.made === undefined) return `${name} is restored over data that were in use`;
    if (formationOf(before, disk.formation)?.formed) return `${name} is restored once more, and its cluster has served`;
    const twin = after.places.find((other) => other.name !== name && other.disk?.formation === disk.formation);
    if (twin) return `${name} is restored, and ${twin.name} is of the same birth`;
  }
  if (!after.cluster.spec.bootstrap?.snapshot) return undefined;
  const empty = after.formations.find((one) => !one.restored && one.formed && !formationOf(before, one.id)?.formed);
  return empty && 'a cluster is formed without the snapshot that it asks for';
}
