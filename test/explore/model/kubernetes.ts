import { lookedFor, outrunBackups, taken, waitsLonger } from './backups.ts';
import { resumed } from './clients.ts';
import {
  formationOf,
  hasQuorum,
  isHeard,
  isServed,
  lowestMinor,
  minorNumber,
  type Started,
  settleEtcd,
  start,
  votersOf,
  withFormation,
  words,
} from './etcd.ts';
import { asksForNoPod, templateOf } from './hands.ts';
import { isShownLate } from './leaves.ts';
import { isTold } from './lineage.ts';
import { type Change, type Nature, recovering } from './recovery.ts';
import { type Age, lacking, type Place, type Pod, type World, withoutPeer, withoutVolume, withPlace } from './state.ts';
import { freshUid, type Referred } from './uids.ts';

/** What happens by itself, sooner or later: kubelet, controllers, garbage collection, and etcd's own heartbeat. */

export type Happening = (what: string, at: string | undefined, after: World) => unknown;

/** Every small thing that may happen next, until who asks says `enough`. */
export function happenings(world: World, referred: Referred, nature: Nature, happens: Happening): void {
  for (const place of world.places) {
    const changed = ofPlace(world, place, referred);
    if (changed && happens(changed.what, place.name, changed.after) === 'enough') return;
    const recovered = (place.job || place.jobPod) && recovering(world, place, referred, nature);
    if (recovered && happens(recovered.what, place.name, recovered.after) === 'enough') return;
    const caught = catchUp(world, place);
    if (caught && happens('catches up', place.name, caught) === 'enough') return;
    const shown = isShownLate(place) && settleEtcd(withPlace(world, place.name, showing));
    if (shown && happens('presents the certificate of its Secret', place.name, shown) === 'enough') return;
  }
  for (const formation of world.formations) {
    const minor = lowestMinor(world, formation);
    const all = formation.members.every(({ id }) => world.places.some(({ process }) => process?.memberId === id));
    if (!all || !hasQuorum(world, formation) || formation.version === undefined) continue;
    if (minorNumber(minor) <= minorNumber(formation.version)) continue;
    const after = withFormation(world, { ...formation, version: minor });
    if (happens(`etcd's cluster version moves to ${minor}`, undefined, after) === 'enough') return;
  }
  const backedUp = taken(world);
  if (backedUp && happens('the EtcdBackup is Ready', undefined, backedUp) === 'enough') return;
  const found = lookedFor(world);
  if (found && happens('a Job has looked for what an EtcdBackup stored', undefined, found) === 'enough') return;
  const resuming = resumed(world);
  if (resuming && happens('clients resume their watches', undefined, resuming) === 'enough') return;
  const gone = collected(world);
  if (gone) happens('what the deleted resource owned is collected', undefined, gone);
}

/** One thing at a time for each member, in the order in which Kubernetes would. */
function ofPlace(world: World, place: Place, referred: Referred): Change | undefined {
  const { name, pod, statefulSet, configMap, volume, jobPod } = place;
  if (place.outside) return ofOthers(world, place);
  if (place.orphan && !place.nodeDead) {
    const without = (one: Place) => lacking(one, 'orphan', 'asserted', 'process');
    return { what: 'what has no pod any more is ended', after: settleEtcd(withPlace(world, name, without)) };
  }
  if (configMap?.current === false || statefulSet?.current === false) {
    return {
      what: 'what peer or claim owned is collected',
      after: settleEtcd(withPlace(world, name, withoutOwnerless)),
    };
  }
  if (pod && !pod.leaving && (!statefulSet || asksForNoPod(statefulSet))) {
    return { what: 'the pod is told to end', after: withPlace(world, name, leave) };
  }
  if (pod?.leaving) {
    // What has no node is nobody's to end: the API server lets it go at once.
    if (place.nodeDead && !pod.homeless) return undefined;
    return { what: 'the pod ends', after: settleEtcd(withPlace(world, name, (one) => ended(one))) };
  }
  if (volume?.leaving && !pod && !jobPod) {
    return {
      what: 'the volume goes',
      after: settleEtcd(withPlace(world, name, withoutVolume)),
    };
  }
  if (statefulSet && !pod && asksForNoPod(statefulSet)) return undefined;
  if (statefulSet && !pod) return volume ? madePod(world, place, statefulSet, referred) : undefined;
  if (place.nodeDead) return undefined;
  if (pod?.homeless) {
    const scheduled = (one: Place): Place => ({ ...one, pod: lacking(pod, 'homeless') });
    return { what: 'the pod is scheduled', after: withPlace(world, name, scheduled) };
  }
  return pod ? running(world, place, pod) : undefined;
}

/** Its own operator starts it again on its disk, for as long as it is a member. */
function ofOthers(world: World, { name, process, disk }: Place): Change | undefined {
  const formation = formationOf(world, disk?.formation);
  if (!disk || !formation) return undefined;
  const isMember = formation.members.some(({ id }) => id === disk.memberId);
  if (process && !isMember && hasQuorum(world, formation)) {
    const stopped = (one: Place) => lacking(one, 'process');
    return { what: 'etcd learns that it is no member, and ends', after: settleEtcd(withPlace(world, name, stopped)) };
  }
  if (process || !isMember) return undefined;
  const version = `${formation.version ?? formation.oldest}.0`;
  const started = { formation: disk.formation, memberId: disk.memberId, version };
  const runs = (one: Place): Place => ({ ...one, process: started });
  return { what: 'others start it again', after: settleEtcd(withPlace(world, name, runs)) };
}

/** Each by the owner that it names, which may be another one than the peer that is there now. */
function withoutOwnerless(place: Place): Place {
  const kept = place.configMap?.current === false ? lacking(place, 'configMap') : place;
  return place.statefulSet?.current === false ? leave(lacking(kept, 'statefulSet')) : kept;
}

function leave(place: Place): Place {
  return place.pod ? { ...place, pod: { ...place.pod, leaving: true } } : place;
}

/** A PVC that was only waiting for its pod goes with it. */
function ended(place: Place): Place {
  const rest = lacking(place, 'pod', 'process');
  return place.volume?.leaving && !place.jobPod ? withoutVolume(rest) : rest;
}

function madePod(world: World, place: Place, set: NonNullable<Place['statefulSet']>, referred: Referred): Change {
  const pod: Pod = {
    uid: freshUid('pod', place, referred),
    leaving: false,
    ready: false,
    inputs: set.inputs,
    hash: templateOf(set),
    container: 'waiting',
    everStarted: false,
    ...(place.ill !== undefined && { renewed: true }),
    ...(place.nodeDead && { homeless: true }),
  };
  const bound = (one: Place): Place => ({ ...one, pod, ...(one.volume && { volume: { ...one.volume, bound: true } }) });
  return { what: 'a pod is made', after: withPlace(world, place.name, bound) };
}

function running(world: World, place: Place, pod: Pod): Change | undefined {
  const { name, process } = place;
  const formation = formationOf(world, process?.formation);
  if (process && formation) {
    const isMember = formation.members.some(({ id }) => id === process.memberId);
    if ((!isMember && hasQuorum(world, formation)) || isTold(world, formation)) {
      return { what: 'etcd learns that it is no member, and ends', after: crash(world, name, words.removed) };
    }
    if (!pod.ready && isServed(world, place)) {
      return {
        what: 'the pod is Ready',
        after: withPlace(world, name, (one) => ({ ...one, pod: { ...pod, ready: true } })),
      };
    }
    return undefined;
  }
  // Kubelet makes no container without its variables, and what it mounts.
  if (!place.configMap || (world.ours && !place.leaf)) return undefined;
  const started = isDeadly(pod)
    ? ({ kind: 'exits', words: words.settings } as const)
    : start(world, place, versionOf(pod));
  if (started.kind === 'exits') {
    if (pod.container === 'crashing' && pod.words === started.words) return undefined;
    return { what: `etcd exits: ${started.words}`, after: crash(world, name, started.words) };
  }
  return { what: 'etcd starts', after: settleEtcd(run(world, place, pod, started)) };
}

function run(
  world: World,
  { name, leaf }: Place,
  pod: Pod,
  { disk, begun }: Extract<Started, { kind: 'runs' }>,
): World {
  const { formation, memberId } = disk;
  const process = {
    ...{ formation, memberId, version: versionOf(pod), anew: true as const },
    ...(pod.inputs.tls.allowedNames && { asks: true as const }),
    ...(leaf && { shows: leaf }),
  };
  const alive: Pod = { ...lacking(pod, 'words'), container: 'running', everStarted: true };
  const known = outrunBackups(begun ? withFormation(world, begun) : world);
  return withPlace(known, name, (one) => ({ ...one, disk: lacking(disk, 'made', 'kept'), process, pod: alive }));
}

/** Its first start in a birth made a log, and no more. */
export function killedAtBirth(world: World, place: Place): World | undefined {
  const { name, pod, process, disk, configMap, nodeDead } = place;
  if (!pod || pod.leaving || process || disk || nodeDead || configMap?.initialClusterState !== 'new') return undefined;
  const started = start(world, place, versionOf(pod));
  if (started.kind === 'exits') return undefined;
  const { begun } = started;
  const exited: Pod = { ...pod, container: 'exited', everStarted: true };
  const blank = (one: Place): Place => ({ ...one, pod: exited, disk: { ...started.disk, blank: true } });
  return settleEtcd(withPlace(begun ? withFormation(world, begun) : world, name, blank));
}

function crash(world: World, name: string, said: string): World {
  const ill = (one: Place): Place => {
    const rest = lacking(one, 'process');
    if (!one.pod) return rest;
    return { ...rest, pod: { ...one.pod, ready: false, container: 'crashing', everStarted: true, words: said } };
  };
  return settleEtcd(withPlace(world, name, ill));
}

export function versionOf({ inputs }: Pod): string {
  return inputs.version;
}

/** The bad commit of the scenarios: etcd does not know what it is told. */
export const deadlyOption = 'max-txn-ops';

function isDeadly({ inputs }: Pod): boolean {
  return inputs.etcd?.extraArgs?.[deadlyOption] === 'none';
}

function catchUp(world: World, place: Place): World | undefined {
  const formation = formationOf(world, place.process?.formation);
  if (!place.disk?.behind || !formation?.leader || !hasQuorum(world, formation)) return undefined;
  if (!formation.members.some(({ id }) => id === place.disk?.memberId)) return undefined;
  if (!isHeard(world, formation, place)) return undefined;
  const { disk } = place;
  return withPlace(world, place.name, (one) => ({ ...one, disk: { ...disk, behind: false } }));
}

function showing(place: Place): Place {
  const { process, leaf } = place;
  return process && leaf ? { ...place, process: { ...process, shows: leaf } } : place;
}

/** A deleted resource without a finalizer, and then what it owned: all but the volumes. */
function collected(world: World): World | undefined {
  const { cluster, places } = world;
  if (cluster.deleting && !cluster.finalizer && !cluster.owesBackup && !cluster.gone) {
    return { ...world, cluster: { ...cluster, gone: true } };
  }
  const views = Object.values(world.shared);
  if (
    !cluster.gone &&
    !views.some(({ state }) => state === 'leftover') &&
    !places.some(({ peer }) => peer?.current === false)
  )
    return undefined;
  const isLeftover = ({ peer }: Place) => peer !== undefined && (cluster.gone === true || !peer.current);
  const shared = Object.fromEntries(
    Object.entries(world.shared).map(([kind, view]) => [
      kind,
      view.state === 'leftover' || (cluster.gone && view.state !== 'missing') ? { state: 'missing' } : view,
    ]),
  ) as unknown as World['shared'];
  const isSame = Object.entries(shared).every(([kind, view]) => world.shared[kind as keyof World['shared']] === view);
  if (isSame && !places.some(isLeftover)) return undefined;
  return { ...world, shared, places: places.map((place) => (isLeftover(place) ? withoutPeer(place) : place)) };
}

function soaksOn(world: World): World {
  const { memory } = world.cluster;
  if (!memory.soak || memory.soak.over) return world;
  return { ...world, cluster: { ...world.cluster, memory: { ...memory, soak: { ...memory.soak, over: true } } } };
}

/** Members that have been unhealthy for some time have been so for longer. */
export function timePasses(world: World): World | undefined {
  const later = soaksOn(waitsLonger(world) ?? world);
  if (!world.places.some(({ ill }) => ill !== undefined && ill < 3)) return later === world ? undefined : later;
  const older = (place: Place): Place =>
    place.ill === undefined || place.ill === 3 ? place : { ...place, ill: (place.ill + 1) as Age };
  return { ...later, places: later.places.map(older) };
}

/** Voters that are as a healthy member is, for everybody to see. */
export function healthyVoters(world: World, id: string): readonly string[] {
  const formation = formationOf(world, id);
  if (!formation || !hasQuorum(world, formation)) return [];
  return votersOf(formation).flatMap((member) => {
    const place = world.places.find(({ process }) => process?.memberId === member.id);
    return place?.outside || (place?.pod?.ready && !place.pod.leaving) ? [member.id] : [];
  });
}
