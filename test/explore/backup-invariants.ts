import { isHigher } from '../../manifests/api/version.ts';
import { backupPolicy, type Occasion } from '../../manifests/render/backup-before.ts';
import type { Action } from '../../reconcile/cluster/know/action.ts';
import type { AskedBackup } from './model/backup-state.ts';
import { objectOf } from './model/backups.ts';
import { formationOf, minorOf, serving } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import { recordIn } from './model/objects.ts';
import type { Place, State, World } from './model/state.ts';

/**
 * I12: where the spec requires a backup, no upgrade, no hibernation and no deletion begins before a good one is there,
 * taken for it, with the data that are there. A cluster that sleeps is deleted on what it was put to sleep on, once
 * that was found in its store.
 */
export function backsUpFirst({ world }: State, { begins, action }: Event): string | undefined {
  const before = begins && action && occasionOf(action, world);
  if (!before || backupPolicy(asResource(world), before) !== 'Required') return undefined;
  const { backups = [] } = world;
  if (backups.some((one) => one.before === before && isGood(one, world))) return undefined;
  const slept = before === 'deletion' ? backups.filter((one) => isOfSleep(one, world)) : [];
  if (slept.some((one) => wasFound(one, world))) return undefined;
  if (slept.length > 0)
    return `${action.kind} begins, and what was stored before the members stopped was not looked for`;
  return `${action.kind} begins, and no good backup is there that was taken before the ${before}`;
}

const deletes: ReadonlySet<Action['kind']> = new Set(['delete-peers', 'delete-volumes'] as const);

/** What this would be the first step of. */
function occasionOf(action: Action, world: World): Occasion | undefined {
  const { cluster, places } = world;
  const isOwed = action.kind === 'set-finalizer' && action.finalizer === 'backup' && !action.present;
  // Once it is off, the deletion has begun.
  const isFirst = isOwed || (cluster.owesBackup && deletes.has(action.kind));
  if (cluster.deleting) return isFirst && hasData(world) ? 'deletion' : undefined;
  if (action.kind === 'hibernate-members')
    return places.some((place) => recordIn(place)?.state === 'hibernating') ? undefined : 'hibernation';
  return beginsUpgrade(action, world) ? 'upgrade' : undefined;
}

/**
 * A member gets a higher version than another one has, and no volume says that a roll to it has begun. What ends an
 * outage waits for nothing (I15); what a rollback makes is of another cluster. Another client may have begun it.
 */
function beginsUpgrade(action: Action, world: World): boolean {
  if (world.newerByOthers) return false;
  const given = gives(action, world);
  const lowest = lowestGiven(world);
  if (given === undefined || lowest === undefined || !serving(world) || !isHigher(given, lowest)) return false;
  return !world.places.some((place) => {
    const { rollsTo, version } = recordIn(place) ?? {};
    if (rollsTo === undefined || version === undefined) return false;
    return rollsTo === given || (minorOf(rollsTo) === minorOf(given) && minorOf(version) !== minorOf(given));
  });
}

/** Which version a member gets by this that it does not have. */
function gives(action: Action, { places }: World): string | undefined {
  const has = (name: string) => places.find((place) => place.name === name)?.peer?.inputs.version;
  switch (action.kind) {
    case 'change-template':
      return has(action.peer.name) === action.inputs.version ? undefined : action.inputs.version;
    case 'reconfigure-members':
      return action.peers.every(({ name }) => has(name) === action.inputs.version) ? undefined : action.inputs.version;
    case 'prepare-members':
      return action.members.some(({ record: { state } }) => state === 'joining' || state === 'sealed')
        ? action.inputs.version
        : undefined;
    default:
      return undefined;
  }
}

function lowestGiven({ places }: World): string | undefined {
  const given = places.flatMap((place) =>
    place.peer?.current && recordIn(place)?.state === 'sealed' ? place.peer.inputs.version : [],
  );
  return given.toSorted((a, b) => (isHigher(a, b) ? 1 : -1))[0];
}

/** Clients wrote to it, and could miss it. */
function hasData(world: World): boolean {
  return world.places.some((place) => isServed(place, world));
}

function isServed(place: Place, world: World): boolean {
  const isSealed = recordIn(place)?.state === 'sealed' || recordIn(place)?.state === 'hibernating';
  return isSealed && formationOf(world, place.disk?.formation)?.formed === true;
}

/** Nothing was written since all members stopped, to hibernate, after it. */
function isOfSleep({ before, state, holds, outrun }: AskedBackup, world: World): boolean {
  if (before !== 'hibernation' || state !== 'good' || outrun) return false;
  if (world.places.some(({ process, hidden }) => process ?? hidden)) return false;
  return world.places.some((place) => isServed(place, world) && place.disk?.formation === holds?.formation);
}

/** A Job found it in the store, after the deletion had begun. */
function wasFound(one: AskedBackup, { backups = [] }: World): boolean {
  return backups.some(({ looksFor, state, former }) => looksFor === objectOf(one) && state === 'good' && !former);
}

/** A backup that is too old is taken again, where there is a quorum to take it of. */
function isGood({ state, holds, old, former, before, looksFor }: AskedBackup, world: World): boolean {
  if (state !== 'good' || !holds || looksFor !== undefined || former || (old && serving(world))) return false;
  const lowest = lowestGiven(world);
  if (before === 'upgrade' && lowest !== undefined && isHigher(lowest, holds.version)) return false;
  return world.places.some((place) => isServed(place, world) && place.disk?.formation === holds.formation);
}

function asResource({ cluster: { spec } }: World): Parameters<typeof backupPolicy>[0] {
  return { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata: { name: 'orders' }, spec };
}
