import { isAspirant } from '../../../manifests/render/volume-record.ts';
import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import { anyOf, below, type Chance, shuffled } from '../chance.ts';
import { isOpen } from '../model/clients.ts';
import { settleEtcd, votersOf } from '../model/etcd.ts';
import { worldFaults } from '../model/faults.ts';
import { successorsOf, tookItsPlace } from '../model/lineage.ts';
import { nodeFaults } from '../model/node-faults.ts';
import { recordIn } from '../model/objects.ts';
import {
  type Formation,
  type Late,
  lacking,
  type Place,
  placeOf,
  type State,
  type World,
  withPlace,
} from '../model/state.ts';
import { abandoned } from '../model/transitions.ts';

/** A quorum of one etcd cluster, with its nodes, disks and network. It is well from now on; all else may stay dead. */
export interface Core {
  /** Absent: nothing was born yet, and nothing that was made for it is lost. */
  readonly of?: string;
  readonly healed: readonly string[];
  /** Their nodes are never heard again, or their disks are lost. */
  readonly dead: readonly string[];
}

export interface Healed {
  readonly state: State;
  readonly core: Core;
  /** For the story. */
  readonly told: readonly string[];
}

/** `undefined`: no etcd cluster has the disks of a quorum any more, so that nothing but a person could heal it. */
export function heal(state: State, chance: Chance): Healed | undefined {
  const core = coreOf(state.world, chance);
  if (!core) return undefined;
  const rest = standing(state, chance);
  const told = [`HEALED: ${core.healed.join(', ') || 'nothing was made yet'}`, ...lostOf(state, rest)];
  let world: World = lacking(rest.world, 'apart');
  if (chance() < 1 / 2) world = lacking(world, 'dryRuns');
  for (const name of core.healed) {
    const place = placeOf(world, name);
    world = (place?.nodeDead && nodeFaults.returns.strike(world, place)) || world;
  }
  for (const name of core.dead) {
    const way = anyOf(chance, waysOf(placeOf(world, name)));
    world = killed(world, name, way);
    told.push(`DEAD: ${name}: ${way}`);
  }
  return { core, told, state: { ...rest, world: settleEtcd(world), left: { ...rest.left, faults: {}, total: 0 } } };
}

function coreOf(world: World, chance: Chance): Core | undefined {
  const able = world.formations.filter(
    (one) => !isGivenUp(world, one) && keepersOf(world, one).length >= quorumOf(votersOf(one).length),
  );
  if (able.length === 0) {
    return isUnborn(world) ? { healed: namesOf(world.places.filter(isAnything)), dead: [] } : undefined;
  }
  const formation = anyOf(chance, able);
  const keepers = shuffled(chance, keepersOf(world, formation));
  const quorum = quorumOf(votersOf(formation).length);
  const kept = keepers.slice(0, quorum + below(chance, keepers.length - quorum + 1));
  const others = world.places.filter((place) => !kept.includes(place) && isAnything(place));
  const isLucky = others.map(() => chance() < 1 / 3);
  const healed = [...kept, ...others.filter((_, index) => isLucky[index])];
  return { of: formation.id, healed: namesOf(healed), dead: namesOf(others.filter((_, index) => !isLucky[index])) };
}

/** Nothing that was made for its birth, or that it is born of, is lost. */
function isUnborn(world: World): boolean {
  const isLost = (place: Place) => {
    const { volume, peer, outside, disk } = place;
    const hasRun = volume?.bound && recordIn(place)?.state !== 'bootstrapping';
    return volume?.lost || volume?.leaving || hasRun || (peer && !volume) || (outside && !disk);
  };
  const isAny = isOpen(world) || world.formations.length > 0 || world.cluster.memory.clusterId !== undefined;
  return !isAny && !world.places.some(isLost);
}

function isGivenUp(world: World, formation: Formation): boolean {
  return successorsOf(world, formation).length > 0 || tookItsPlace(world, formation) !== undefined;
}

/** Voters whose disks are there, and stay. What is restored beside a cluster that serves is of none yet. */
function keepersOf(world: World, { id, members }: Formation): readonly Place[] {
  const voters = votersOf({ members }).map((member) => member.id);
  return world.places.filter((place) => {
    const { disk, volume } = place;
    const record = recordIn(place);
    const isOut = record !== undefined && (record.state === 'superseded' || isAspirant(record));
    return disk?.formation === id && voters.includes(disk.memberId) && !volume?.leaving && !volume?.lost && !isOut;
  });
}

function isAnything({ peer, volume, configMap, statefulSet, pod, disk, job, jobPod }: Place): boolean {
  return [peer, volume, configMap, statefulSet, pod, disk, job, jobPod].some((thing) => thing !== undefined);
}

function namesOf(places: readonly Place[]): readonly string[] {
  return places.map(({ name }) => name).toSorted();
}

const ways = ['its node dies', 'its node is cut off', 'its disk is lost'] as const;
type Way = (typeof ways)[number];

/** A member that was not sealed yet would start on another empty disk. */
function waysOf(place: Place | undefined): readonly Way[] {
  const isSealed = place !== undefined && recordIn(place)?.state === 'sealed';
  return isSealed ? ways : ways.filter((way) => way !== 'its disk is lost');
}

function killed(world: World, name: string, way: Way): World {
  const place = placeOf(world, name);
  if (!place) return world;
  // Others that lose a disk have no node of ours.
  if (place.outside) return settleEtcd(withPlace(world, name, (one) => lacking(one, 'process', 'disk')));
  if (way === 'its disk is lost') return worldFaults.lost.strike(world, place) ?? world;
  if (place.nodeDead) return world;
  const isHeardByNone = way === 'its node is cut off' && place.process !== undefined;
  const struck = nodeFaults[isHeardByNone ? 'cut' : 'node'].strike(world, place);
  return (
    struck ?? settleEtcd(withPlace(world, name, (one) => ({ ...lacking(one, 'process', 'orphan'), nodeDead: true })))
  );
}

/** Of invocations at most the one that acts goes on, and of requests on their way some arrive. */
function standing(state: State, chance: Chance): State {
  const alive = lacking(chance() < 1 / 2 ? abandoned(state) : state, 'looked', 'beside');
  return { ...alive, late: alive.late.filter(() => chance() < 1 / 2) };
}

function lostOf(before: State, after: State): readonly string[] {
  const isLost = (late: Late) => !after.late.includes(late);
  return [
    ...(before.acting && !after.acting ? ['DEAD: the invocation that acted'] : []),
    ...before.late.filter(isLost).map(({ request }) => `LOST: a request on its way: ${request.kind}`),
  ];
}
