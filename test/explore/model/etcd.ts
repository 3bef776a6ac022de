import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import type { Disk } from './disk.ts';
import { letIn } from './leaves.ts';
import { clusterIdOf, isTold } from './lineage.ts';
import { type Formation, lacking, type Member, type Place, type World } from './state.ts';

/**
 * etcd, as far as membership, leadership and durability go. Measured on real ones: ARCHITECTURE.md and
 * test/support/world.
 */

export function formationOf(world: World, id: string | undefined): Formation | undefined {
  return world.formations.find((formation) => formation.id === id);
}

/** Of this ID: of two, the one that has a quorum. */
export function formationOfCluster(world: World, clusterId: string | undefined): Formation | undefined {
  const all = world.formations.filter((one) => clusterIdOf(one) === clusterId);
  return all.find((one) => hasQuorum(world, one)) ?? all[0];
}

export function votersOf({ members }: Pick<Formation, 'members'>): readonly Member[] {
  return members.filter(({ learner }) => !learner);
}

export function runnerOf(world: World, formation: Formation, memberId: string): Place | undefined {
  return world.places.find(({ process }) => process?.memberId === memberId && process.formation === formation.id);
}

/** Those that run, and hear each other. */
export function runningVoters(world: World, formation: Formation): readonly Member[] {
  const running = votersOf(formation).filter(({ id }) => runnerOf(world, formation, id) !== undefined);
  return world.ours ? heardBy(world, formation, running) : running;
}

/** By the one that leads, or would: those that it does not let in, or that do not let it in, are none for it. */
function heardBy(world: World, formation: Formation, running: readonly Member[]): readonly Member[] {
  const able = running.filter((one) => mayLead(world, formation, one));
  const around = (leader: Member) => running.filter((one) => hears(world, formation, leader.id, one.id));
  const quorum = quorumOf(votersOf(formation).length);
  const leads = able.find(({ id }) => id === formation.leader);
  const groups = [...(leads ? [leads] : []), ...able].map(around);
  return groups.find((group) => group.length >= quorum) ?? groups[0] ?? running;
}

function hears(world: World, formation: Formation, a: string, b: string): boolean {
  const [one, other] = [a, b].map((id) => runnerOf(world, formation, id)?.process);
  return one !== undefined && other !== undefined && letIn(one, other);
}

/** Whether the leader hears it. */
export function isHeard(world: World, formation: Formation, { process }: Place): boolean {
  const { leader } = formation;
  if (!world.ours || !process || leader === undefined) return true;
  return hears(world, formation, leader, process.memberId);
}

export function hasQuorum(world: World, formation: Formation): boolean {
  const voters = votersOf(formation).length;
  if (world.apart && voters > 1) return false;
  const running = runningVoters(world, formation);
  return voters > 0 && running.length >= quorumOf(voters) && running.some((one) => mayLead(world, formation, one));
}

/** All that was recorded of a birth runs, and none has an entry in its log. */
export function neverLeads({ places }: World): boolean {
  const members = places.filter(({ peer, process, outside }) => (peer || process) && !outside);
  return members.length > 0 && members.every(({ process, disk }) => process && disk?.blank);
}

/** A member that was killed before the first entry of its log stands for no election (measured). */
function mayLead(world: World, formation: Formation, { id }: Member): boolean {
  return runnerOf(world, formation, id)?.disk?.blank !== true;
}

/** The cluster that answers: one with a quorum; of others alone only while it is to be taken over. */
export function serving(world: World): Formation | undefined {
  const all = world.formations.filter((formation) => hasQuorum(world, formation));
  const runsOurs = ({ id }: Formation) =>
    world.places.some(({ process, outside }) => process?.formation === id && !outside);
  const { spec, memory } = world.cluster;
  const isAsked = (spec.bootstrap?.existing ?? memory.existing) !== undefined;
  return all.find(runsOurs) ?? (isAsked ? all[0] : undefined);
}

/**
 * What follows at once from who runs: somebody leads, names are told, who is away misses what is written meanwhile, and
 * nobody who hears no quorum is Ready.
 *
 * Of those that may lead, the one with the highest number does: who is to leave first when a cluster shrinks. Others
 * lead after a fault.
 */
export function settleEtcd(world: World): World {
  let settled = forgotten(world);
  for (const formation of settled.formations) settled = settleFormation(settled, formation);
  return notReady(settled);
}

/** A cluster of which no disk is left is none. */
function forgotten(world: World): World {
  const isKept = ({ id }: Formation) =>
    world.places.some(({ disk, backup }) => disk?.formation === id || backup?.disk.formation === id);
  return world.formations.every(isKept) ? world : { ...world, formations: world.formations.filter(isKept) };
}

function settleFormation(world: World, formation: Formation): World {
  if (!hasQuorum(world, formation)) {
    if (formation.leader === undefined) return world;
    const { leader: _, ...rest } = formation;
    return withFormation(world, rest);
  }
  const running = runningVoters(world, formation);
  const isComplete = (one: Member) =>
    runnerOf(world, formation, one.id)?.disk?.behind === false && mayLead(world, formation, one);
  const leads = running.find(({ id }) => id === formation.leader);
  // Raft's rule: nobody is elected who lacks what was committed, as long as a quorum of those who have it can be asked.
  const able = running.filter((one) => mayLead(world, formation, one));
  const leader = leads ?? running.filter(isComplete).at(-1) ?? able.at(-1);
  const lost = !running.some(isComplete);
  const members = formation.members.map((member) =>
    member.published || !runnerOf(world, formation, member.id) ? member : { ...member, published: true },
  );
  const moved = members.some((member, index) => member !== formation.members[index]);
  const next: Formation = {
    ...formation,
    ...(moved && { members }),
    formed: true,
    ...(leader && leader.id !== formation.leader && entered(formation, world)),
    ...(leader && { leader: leader.id }),
    version: formation.version ?? lowestMinor(world, formation),
    ...(lost && { lost: true }),
  };
  const same =
    !moved && formation.formed && next.leader === formation.leader && formation.version && !!formation.lost === lost;
  const settled = answering(same ? world : withFormation(world, next), formation.id);
  // Acknowledged writes are on the disks of a quorum: as long as too few have caught up, no new one is.
  return running.filter(isComplete).length >= quorumOf(votersOf(formation).length)
    ? awayMiss(settled, formation.id)
    : settled;
}

/** Clients are let in at the first quorum after a start. A log without an entry gets those of the leader. */
function answering(world: World, formation: string): World {
  const whole = formationOf(world, formation);
  const isAnew = (place: Place) =>
    place.process?.formation === formation && place.process.anew === true && (!whole || isHeard(world, whole, place));
  if (!world.places.some(isAnew)) return world;
  const places = world.places.map((place) => {
    if (!place.process || !isAnew(place)) return place;
    const { disk } = place;
    const process = lacking(place.process, 'anew');
    return { ...place, process, ...(disk?.blank && { disk: { ...lacking(disk, 'blank'), behind: true } }) };
  });
  return { ...world, places };
}

/** Each leader begins with an entry. They are told apart only where an approval is bound to one. */
function entered({ led = 0 }: Formation, { cluster }: World): Pick<Formation, 'led'> | undefined {
  return cluster.approval?.led === led ? { led: led + 1 } : undefined;
}

/** Leadership goes to a voter that runs and has all writes; to any other it does not. */
export function movedLeader(world: World, clusterId: string, to: string | undefined): World {
  const formation = formationOfCluster(world, clusterId);
  const place = formation && to !== undefined && runnerOf(world, formation, to);
  if (!formation || !place || place.disk?.behind || !hasQuorum(world, formation)) return world;
  return withFormation(world, { ...formation, leader: to });
}

/** Clients write all the time. */
function awayMiss(world: World, formation: string): World {
  const whole = formationOf(world, formation);
  const isMissing = (place: Place) =>
    place.disk?.formation === formation &&
    !place.disk.behind &&
    (place.process === undefined || (whole !== undefined && !isHeard(world, whole, place)));
  if (!world.places.some(isMissing)) return world;
  const places = world.places.map((place) =>
    place.disk && isMissing(place) ? { ...place, disk: { ...place.disk, behind: true } } : place,
  );
  return { ...world, places };
}

function notReady(world: World): World {
  const isWrong = (place: Place) => place.pod?.ready === true && !isServed(world, place);
  if (!world.places.some(isWrong)) return world;
  const places = world.places.map((place) =>
    place.pod && isWrong(place) ? { ...place, pod: { ...place.pod, ready: false } } : place,
  );
  return { ...world, places };
}

/** Whether it runs, has a vote, and hears a quorum: what readiness asks. */
export function isServed(world: World, place: Place): boolean {
  const { process } = place;
  const formation = formationOf(world, process?.formation);
  if (!formation || !hasQuorum(world, formation) || !isHeard(world, formation, place)) return false;
  return votersOf(formation).some(({ id }) => id === process?.memberId);
}

export function lowestMinor(world: World, formation: Formation): string {
  const minors = formation.members.flatMap(({ id }) => runnerOf(world, formation, id)?.process?.version ?? []);
  return minors.map(minorOf).toSorted()[0] ?? '3.6';
}

/** Like `3.6`. */
export function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

export function minorNumber(version: string): number {
  return Number(version.split('.')[1]);
}

export function withFormation(world: World, formation: Formation): World {
  const known = world.formations.some(({ id }) => id === formation.id);
  const formations = known
    ? world.formations.map((one) => (one.id === formation.id ? formation : one))
    : [...world.formations, formation];
  return { ...world, formations };
}

export const words = {
  sealed: "couldn't find local name in the initial cluster configuration",
  mismatch: 'member count is unequal',
  removed: 'the member has been permanently removed from the cluster',
  downgrade: 'invalid downgrade; server version is lower than determined cluster version',
  skipped: 'the data is of a minor that this one does not follow',
  unreadable: 'unmarshal should never fail',
  settings: 'its usage, as for a flag that it does not know',
} as const;

export type Started =
  | { readonly kind: 'runs'; readonly disk: Disk; readonly begun?: Formation }
  | { readonly kind: 'exits'; readonly words: string };

/** What etcd does when it starts: with data it goes on, without it does as its variables say, or exits. */
export function start(world: World, place: Place, version: string): Started {
  const { disk, configMap, name, peer } = place;
  const formation = formationOf(world, disk?.formation);
  if (disk && formation) {
    const isMember = formation.members.some(({ id }) => id === disk.memberId);
    if (isTold(world, formation) || (!isMember && hasQuorum(world, formation)))
      return { kind: 'exits', words: words.removed };
    const why = whyNotOn(version, formation);
    if (why) return { kind: 'exits', words: why };
    return { kind: 'runs', disk };
  }
  const named = (configMap?.initialCluster ?? '').split(',').map((entry) => entry.split('=')[0] ?? '');
  if (!configMap || !named.includes(name)) return { kind: 'exits', words: words.sealed };
  if (configMap.initialClusterState !== 'new') return join(world, place, named);
  const token = peer?.bootstrap.token ?? '';
  return begin(world, place, version, { token, named });
}

/** Members that start with the same token and list form one cluster, under IDs made of these. */
function begin(
  world: World,
  { name }: Place,
  version: string,
  { token, named }: { readonly token: string; readonly named: readonly string[] },
): Started {
  const begun = formationBy(token, named, version);
  const { id } = begun;
  const formation = formationOf(world, id);
  return {
    kind: 'runs',
    disk: { formation: id, memberId: memberIdOf(id, name), behind: formation?.formed ?? false },
    ...(!formation && { begun }),
  };
}

/** Before anybody has let clients in. */
export function formationBy(token: string, names: readonly string[], version: string): Formation {
  const id = `c-${token}`;
  return {
    id,
    token,
    members: names.map((name) => ({ id: memberIdOf(id, name), name, published: false, learner: false })),
    oldest: minorOf(version),
    index: 'low',
    formed: false,
  };
}

export function memberIdOf(clusterId: string, name: string): string {
  return `${clusterId}-${name}`;
}

/** Its list must be the living one, and it must be in it. */
function join(world: World, { name }: Place, named: readonly string[]): Started {
  const formation = world.formations.find((one) =>
    one.members.some(
      (member) => member.name !== name && named.includes(member.name) && runnerOf(world, one, member.id),
    ),
  );
  if (world.apart) return { kind: 'exits', words: words.mismatch };
  const me = formation?.members.find((member) => member.name === name);
  const same = formation?.members.length === named.length && formation.members.every((one) => named.includes(one.name));
  if (!formation || !me || !same) return { kind: 'exits', words: words.mismatch };
  return { kind: 'runs', disk: { formation: formation.id, memberId: me.id, behind: true } };
}

function whyNotOn(version: string, { version: settled, oldest }: Formation): string | undefined {
  if (settled === undefined) return undefined;
  const wanted = minorNumber(version);
  if (wanted < minorNumber(settled)) return words.downgrade;
  if (wanted > minorNumber(settled) + 1) return words.skipped;
  return wanted > 6 && minorNumber(oldest) < 6 ? words.unreadable : undefined;
}
