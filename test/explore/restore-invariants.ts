import { hashOf } from '../../manifests/render/inputs-hash.ts';
import { annotations } from '../../manifests/render/names.ts';
import type { Action } from '../../reconcile/cluster/know/action.ts';
import { quorumOf } from '../../reconcile/cluster/know/membership/quorum.ts';
import { formationOf, votersOf } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import { clusterIdOf, tookItsPlace } from './model/lineage.ts';
import { dataOf } from './model/named-backups.ts';
import { recordIn } from './model/objects.ts';
import { type Formation, type Place, placeOf, type State, type World } from './model/state.ts';

/**
 * What a restore must never do, looked at in the truth. I11: it writes over no data that an etcd has opened; of one
 * birth there is one restored member; and a cluster that asks for a snapshot never starts without it.
 */
export function restoresOnce({ world: before }: State, _: Event, { world: after }: State): string | undefined {
  for (const [index, { name, disk }] of after.places.entries()) {
    const was = before.places[index]?.disk;
    if (disk?.made === undefined || disk.made === was?.made) continue;
    // A recovery keeps beside it what it was made of.
    const isKept = disk.kept !== undefined && [was?.formation, was?.kept?.formation].includes(disk.kept.formation);
    if (was && was.made === undefined && !isKept) return `${name} is restored over data that were in use`;
    if (formationOf(before, disk.formation)?.formed) return `${name} is restored once more, and its cluster has served`;
    const twin = after.places.find((other) => other.name !== name && other.disk?.formation === disk.formation);
    if (twin) return `${name} is restored, and ${twin.name} is of the same birth`;
  }
  if (!after.cluster.spec.bootstrap?.snapshot) return undefined;
  const empty = after.formations.find((one) => !one.restored && one.formed && !formationOf(before, one.id)?.formed);
  return empty && 'a cluster is formed without the snapshot that it asks for';
}

/**
 * I11, of a rollback: it begins only as approved, of the very cluster that is there; nothing of that one ends before
 * the data that take its place are there, and an etcd has served a copy of them; and the two never run at the same
 * time, not even one member of each.
 */
export function handsOver({ world: before }: State, event: Event, { world: after }: State): string | undefined {
  const { action, begins, who } = event;
  if (begins && action?.kind === 'begin-rollback') {
    const given = before.cluster.annotations?.[annotations.rollBack];
    if (given !== action.approval) return 'a rollback begins that nobody approved';
    const [clusterId] = given.split('/');
    const other = before.formations.find(
      (one) => one.formed && clusterIdOf(one) !== clusterId && !tookItsPlace(before, one),
    );
    if (other) return `a rollback begins, and ${clusterIdOf(other)} was not given up`;
  }
  const wrong = begins && action && (namesAnother(before, action) ?? holdsAnother(before, action));
  if (wrong) return wrong;
  if (who === 'tick' && action?.kind === 'stop-members' && event.write?.object !== 'volume') {
    const place = placeOf(before, action.volume.name);
    const record = place && recordIn(place);
    if (record?.gaveUp && record.state === 'restoring')
      return 'members are stopped before the data are there that take their place';
  }
  if (who === 'tick' && action?.kind === 'stop-members' && event.write?.object === 'statefulSet') {
    const place = placeOf(before, action.volume.name);
    const record = place && recordIn(place);
    if (record?.gaveUp && record.state === 'restored' && isUntried(place) && record.trial === 'passed')
      return 'members are stopped for data that no etcd has served, and nobody waived that';
  }
  for (const former of after.formations) {
    const next = tookItsPlace(after, former);
    // Of one that had lost its quorum, fewer members that run where nothing is heard of them take no write.
    if (next?.revived?.from === former.id && !hasQuorumAnywhere(after, former)) continue;
    if (next && runs(after, next) && runs(after, former))
      return 'members of a cluster that was given up run beside those of the one that took its place';
  }
  return undefined;
}

/** Data that are there: a disk that is lost since was tried as well. */
function isUntried(place: Place | undefined): boolean {
  return place?.disk !== undefined && !place.disk.tried;
}

/**
 * A rollback to an EtcdBackup begins only while that is there and Ready. The approval names the etcd cluster whose data
 * it holds, where that is another one.
 */
function namesAnother({ named = [], cluster }: World, action: Action): string | undefined {
  if (action.kind !== 'begin-rollback') return undefined;
  const { goesBackTo, gaveUp } = action.member.record;
  if (!goesBackTo) return undefined;
  const { name, snapshot } = goesBackTo;
  const found = named.find((one) => one.name === name && one.object === snapshot.object);
  if (!found?.ready) return `a rollback begins to EtcdBackup ${name}, which is not there, or not Ready`;
  const whose = dataOf[found.object];
  const given = cluster.annotations?.[annotations.rollBack] ?? '';
  if (whose === gaveUp?.at(-1) || given.split('/')[2] === whose) return undefined;
  return `a rollback begins to the data of ${whose}, which the approval does not name`;
}

/** The present cluster is given up for the snapshot that was approved, whatever a name stands for by now. */
function holdsAnother(world: World, action: Action): string | undefined {
  if (action.kind !== 'conclude-restore' || action.approval === undefined) return undefined;
  const place = placeOf(world, action.volume.name);
  const clusterId = place && recordIn(place)?.gaveUp?.at(-1);
  const wish = formationOf(world, place?.disk?.formation)?.wish;
  if (wish === undefined) return undefined;
  const approval = `${clusterId}/${hashOf({ clusterId, snapshot: wish }).slice(0, 12)}`;
  const given = world.cluster.annotations?.[annotations.rollBack] ?? '';
  return given.startsWith(approval) ? undefined : 'a cluster is given up for another snapshot than was approved';
}

function hasQuorumAnywhere({ places }: World, former: Formation): boolean {
  const voters = votersOf(former);
  const running = places.filter(({ process, hidden }) =>
    voters.some(({ id }) => [process, hidden].some((one) => one?.formation === former.id && one.memberId === id)),
  );
  return running.length >= quorumOf(voters.length);
}

/** Heard or not. */
function runs({ places }: World, { id }: Formation): boolean {
  return places.some(({ process, hidden }) => process?.formation === id || hidden?.formation === id);
}
