import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { TlsMode } from '../../../manifests/api/tls-settings.ts';
import { peerUrl, schemeOf } from '../../../manifests/render/names.ts';
import { quotaBackendBytes } from '../../../manifests/render/quota.ts';
import { hasDeparted } from '../../../reconcile/cluster/know/life.ts';
import { backupFinalizer, volumesFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type {
  DiskView,
  Endpoint,
  Membership,
  Observation,
  PodView,
  Slot,
} from '../../../reconcile/cluster/know/observation.ts';
import { withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import { callsForExisting, inheritedAmong, listBeside } from '../../../reconcile/cluster/observe/ask-existing.ts';
import type { ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import { awaitedIn, hibernationBackupIn, revisionSince } from './backups.ts';
import { certificatesIn } from './certificates.ts';
import { formationOf, hasQuorum, isHeard } from './etcd.ts';
import { compared, templateOf } from './hands.ts';
import { authSeen } from './host-auth.ts';
import { clusterIdOf } from './lineage.ts';
import { nodeOf, recoveryOf } from './look-recovery.ts';
import { namedIn } from './named-backups.ts';
import { recordIn } from './objects.ts';
import type { Age, Cluster, Formation, Place, Pod, World } from './state.ts';

/** What an invocation sees of the truth: what the API server holds, and what those who run would answer. */

export const namespace = 'shop';
export const clusterName = 'orders';

const now = Date.parse('2026-01-02T03:04:05Z');
const minute = 60_000;
/** Each longer than one grace of `spec.healing`, which are as by default: 2m, 10m, and six times that for a learner. */
const ages: Readonly<Record<Age, number>> = { 0: 1000, 1: 3 * minute, 2: 15 * minute, 3: 120 * minute };
const nowDate = new Date(now);
const nowText = new Date(now).toISOString();
const since: Readonly<Record<Age, string>> = {
  0: new Date(now - ages[0]).toISOString(),
  1: new Date(now - ages[1]).toISOString(),
  2: new Date(now - ages[2]).toISOString(),
  3: new Date(now - ages[3]).toISOString(),
};
const longAgo = new Date(now - 24 * 60 * minute);
const daysAgo = new Date(now - 2 * 24 * 60 * minute).toISOString();

export interface Seen {
  /** Fresh randomness, as a value. */
  readonly nonce: string;
  /** Only a bug forgets those that a recovery left behind. */
  readonly forgetful?: boolean;
}

export function look(world: World, { nonce, forgetful = false }: Seen): Observation {
  const { cluster, places, shared } = world;
  const found = places.flatMap((place) => (bearsAnything(place) ? [asCompared(objectsOf(place), world)] : []));
  const remembers = places.some((place) => recordIn(place)?.outvoted ?? recordIn(place)?.gaveUp);
  const known = forgetful || !remembers ? found : withoutOutvoted(found);
  const reachable = reachableIn(world, known);
  const formation = reachable.map((place) => listedBy(world, place)).find(isServing(world));
  const heard = known.map((slot) => answering(slot, reachable, world));
  const read = heard.map((slot) => withLog(slot, world));
  const slots = formation?.data ? read.map(rewritten) : read;
  const recovery = recoveryOf(world);
  const resource = resourceOf(cluster, places);
  const hibernationBackup = hibernationBackupIn(world, slots);
  const asleep = hibernationBackup && { hibernationBackup };
  const awaitedBackup = awaitedIn(world, { cluster: resource, slots, at: nowDate, ...asleep });
  const namedBackups = namedIn(world, { cluster: resource, slots });
  const asked = besideOthers(world, resource, { slots, membership: membershipOf(world, formation, reachable) });
  const version = formation?.version ?? asked.version;
  return {
    at: nowDate,
    nonce,
    cluster: resource,
    slots,
    shared,
    certificates: certificatesIn(world, { cluster: resource, slots, at: nowDate }),
    membership: asked.membership,
    ...(asked.inherited && { inherited: asked.inherited }),
    ...(version !== undefined && { clusterVersion: `${version}.0` }),
    // As long as writes are refused, the fleet has no room: a cure that waits for it never comes.
    ...(formation?.data?.alarm && { hasHistory: false, crowdedBy: [`${namespace}/other`] }),
    ...(formation && authSeen(formation, { cluster: resource, slots })),
    ...(recovery && { recovery }),
    ...(awaitedBackup && { awaitedBackup }),
    ...asleep,
    ...(namedBackups && { namedBackups }),
    lease: cluster.abandoned ? { kind: 'abandoned', holder: 'shop/tick', action: cluster.abandoned } : { kind: 'free' },
  };
}

/** What members that others run answer, where they are asked. */
function besideOthers(
  world: World,
  cluster: EtcdCluster,
  seen: Pick<Observation, 'slots' | 'membership'>,
): Pick<Observation, 'membership' | 'inherited'> & { readonly version?: string } {
  const { slots, membership } = seen;
  const existing = callsForExisting(cluster, seen);
  if (!existing) return { membership };
  const running = world.places.filter(({ outside, process }) => outside && process);
  const formation = running.map(({ process }) => formationOf(world, process?.formation)).find(isServing(world));
  const told = membershipOf(world, formation, running);
  const list = listBeside({ slots, membership }, existing, told);
  const inherited = inheritedAmong(
    list,
    existing,
    slots,
    running.map((place) => ({ endpoint: endpointOf(world, place) })),
  );
  return {
    membership: list,
    ...(inherited.length > 0 && { inherited }),
    ...(formation?.version !== undefined && { version: formation.version }),
  };
}

function bearsAnything({ peer, volume, configMap, statefulSet, pod }: Place): boolean {
  return [peer, volume, configMap, statefulSet, pod].some((object) => object !== undefined);
}

const silent: Endpoint = { kind: 'unknown', cause: 'nothing runs there' };
const refusesUs: Endpoint = {
  kind: 'unknown',
  cause: 'it has refused our certificate',
  tls: 'ClientCertificateRefused',
};

/** Whose etcd runs in a pod, and is to be asked: one that was left behind is not. */
function reachableIn({ places }: World, slots: readonly Slot[]): readonly Place[] {
  return places.filter(({ name, process, pod, orphan }) => {
    if (!process || orphan || pod?.container !== 'running') return false;
    const slot = slots.find((one) => one.name === name);
    return slot !== undefined && !hasDeparted(slot);
  });
}

/** Of which it tells the list: a learner tells none. */
function listedBy(world: World, { process }: Place): Formation | undefined {
  const formation = formationOf(world, process?.formation);
  const isLearner = formation?.members.some(({ id, learner }) => learner && id === process?.memberId);
  return isLearner ? undefined : formation;
}

function isServing(world: World): (formation: Formation | undefined) => boolean {
  return (formation) => formation !== undefined && hasQuorum(world, formation);
}

function answering(slot: Slot, reachable: readonly Place[], world: World): Slot {
  const place = reachable.find(({ name }) => name === slot.name);
  return place ? { ...slot, endpoint: endpointOf(world, place) } : slot;
}

/** Its file was rewritten with nothing left to forget: it tells how much its data take. */
function rewritten(slot: Slot): Slot {
  return slot.peer ? { ...slot, peer: { ...slot.peer, defragmented: { at: longAgo, vain: 1, bareAt: 10n } } } : slot;
}

function asCompared(slot: Slot, world: World): Slot {
  if (!world.dryRuns || !slot.statefulSet) return slot;
  return { ...slot, statefulSet: compared(slot.statefulSet, world) };
}

const views = new WeakMap<Place, Slot>();

function objectsOf(place: Place): Slot {
  let slot = views.get(place);
  if (!slot) {
    const { name, ordinal, peer, volume, configMap, statefulSet } = place;
    slot = {
      name,
      ordinal,
      endpoint: silent,
      ...(peer && { peer }),
      ...(volume && { volume: place.pod?.homeless ? { ...volume, disk: withoutNode(name) } : volume }),
      ...(configMap && { configMap }),
      ...(statefulSet && { statefulSet }),
      ...(place.pod && { pod: podOf(place, place.pod) }),
    };
    views.set(place, slot);
  }
  return slot;
}

/** Where a node is dead, and its pods are gone, somebody has deleted its Node object. */
function withoutNode(name: string): DiskView {
  return { pv: `pv-of-${name}`, state: 'present', homes: 'none' };
}

function podOf({ name, ordinal, statefulSet, ill }: Place, pod: Pod): PodView {
  const { container, words = '' } = pod;
  const { trust } = pod.inputs.tls;
  const where = pod.homeless ? { unscheduled: 'Unschedulable' } : { node: nodeOf(name) };
  return {
    uid: pod.uid,
    leaving: pod.leaving,
    ready: pod.ready,
    upToDate: !statefulSet ? 'unknown' : templateOf(statefulSet) === pod.hash ? 'yes' : 'no',
    version: pod.inputs.version,
    quota: quotaBackendBytes(pod.inputs),
    ...(trust !== undefined && { trust }),
    address: `10.244.0.${ordinal + 1}`,
    ...where,
    // Made since its member was first seen ill; it grows older with that.
    createdAt: pod.renewed ? new Date(now - ages[ill ?? 0] + 1) : longAgo,
    container: {
      state: container === 'running' ? 'running' : container === 'exited' ? 'terminated' : 'waiting',
      reason: container === 'crashing' ? 'CrashLoopBackOff' : container === 'waiting' ? 'ContainerCreating' : '',
      everStarted: pod.everStarted,
      restarts: container === 'crashing' ? 4 : 0,
      lastWords: words,
      ...((container === 'crashing' || container === 'exited') && { exit: { code: 1, reason: 'Error' } }),
    },
  };
}

/** Index of raft's log by which a learner's lag, and a snapshot, are told. */
const indices = { low: 1000n, high: 100_000n } as const;

/** How many approvals were followed by another leader, by what one of its members said of its log. */
export function ledBy({ index }: Formation, raftIndex: string): number {
  return Math.ceil(Number(BigInt(raftIndex) - indices[index]) / 2);
}

function endpointOf(world: World, place: Place): Endpoint {
  const { process, disk } = place;
  const formation = formationOf(world, process?.formation);
  if (!process || !formation) return silent;
  if (process.asks && !world.ours?.named) return refusesUs;
  const { memberId, version } = process;
  const member = formation.members.find(({ id }) => id === memberId);
  const leads = hasQuorum(world, formation) && isHeard(world, formation, place) ? formation.leader : undefined;
  const raftIndex = indexOn(formation, leads === undefined ? disk : undefined);
  const isLearner = member?.learner ?? false;
  const revision = BigInt(formation.revision ?? (world.backups ? revisionSince(world) : 10));
  if (process.anew) {
    const others = formation.members.flatMap(({ id }) => (id === memberId ? [] : [id]));
    const applied = disk?.blank ? 0n : raftIndex;
    const metrics = { memberId, hasLeader: false, isLearner, applied, revision, others };
    const isInBirth = recordIn(place)?.memberId === undefined;
    return { kind: 'unknown', cause: 'no quorum since its start', [isInBirth ? 'atBirth' : 'metrics']: metrics };
  }
  const lag = disk?.behind ? (isLearner ? raftIndex / 2n : 1n) : 0n;
  return {
    kind: 'known',
    status: {
      memberId,
      clusterId: clusterIdOf(formation),
      leader: leads ?? '0',
      version,
      isLearner,
      raftIndex,
      raftAppliedIndex: raftIndex - lag,
      raftTerm: 2n,
      revision,
      dbSize: BigInt(formation.data?.bytes ?? 20480),
      dbSizeInUse: BigInt(formation.data?.bytes ?? 16384),
      errors: formation.data?.alarm ? ['memberID:161 alarm:NOSPACE '] : [],
    },
  };
}

function membershipOf(world: World, serving: Formation | undefined, reachable: readonly Place[]): Membership {
  if (serving) return { kind: 'known', clusterId: clusterIdOf(serving), members: listOf(serving, world) };
  const survivor = reachable.find(({ process }) => !process?.anew)?.process;
  const remembered = formationOf(world, survivor?.formation);
  const cause = survivor ? 'no quorum answers' : 'no member runs';
  return { kind: 'unknown', cause, ...(remembered && { last: listOf(remembered, world) }) };
}

/** As far as the log is told at all: nothing follows what is committed. */
function withLog(slot: Slot, world: World): Slot {
  const { logJob: job, disk } = world.places.find(({ name }) => name === slot.name) ?? {};
  const formation = formationOf(world, disk?.formation);
  if (job === undefined) return slot;
  if (!disk || !formation) return { ...slot, log: { kind: 'unread', job, why: 'there is no log' } };
  const index = indexOn(formation, disk);
  const { memberId } = disk;
  const entry = { commit: index, consistentIndex: index, lastTerm: 2n, lastIndex: index };
  const log = { clusterId: clusterIdOf(formation), memberId, term: 2n, vote: 0n, ...entry };
  return { ...slot, log: { kind: 'read', job, log } };
}

/** Without a leader no member knows of more than its disk has. */
function indexOn({ index, led = 0 }: Formation, disk: Place['disk']): bigint {
  const newest = indices[index] + BigInt(2 * led);
  return disk?.behind ? newest - 1n : newest;
}

const lists = new WeakMap<Formation, readonly ListedMember[]>();

export function listOf(formation: Formation, { ours }: Pick<World, 'ours'>): readonly ListedMember[] {
  let list = lists.get(formation);
  if (!list) {
    list = formation.members.map(({ id, name, published, learner }) => ({
      id,
      name: published ? name : '',
      peerURLs: [urlOf(name, ours ? 'CertManager' : 'Disabled')],
      clientURLs: [],
      isLearner: learner,
    }));
    lists.set(formation, list);
  }
  return list;
}

export function urlOf(name: string, mode: TlsMode): string {
  return peerUrl(namespace, clusterName, name, schemeOf(mode));
}

function resourceOf(cluster: Cluster, places: readonly Place[]): EtcdCluster {
  const { spec, generation, uid, deleting, finalizer, owesBackup, annotations } = cluster;
  const finalizers = [...(finalizer ? [volumesFinalizer] : []), ...(owesBackup ? [backupFinalizer] : [])];
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: {
      name: clusterName,
      namespace,
      uid,
      generation,
      ...(deleting && { deletionTimestamp: nowText }),
      ...(finalizers.length > 0 && { finalizers }),
      ...(annotations && { annotations }),
    },
    spec,
    status: statusOf(cluster, places),
  };
}

function statusOf({ memory, generation }: Cluster, places: readonly Place[]): EtcdClusterStatus {
  const { clusterId, clusterVersion, existing, floor, failedJoins = 0, retired = [], soak, waited, auth } = memory;
  const told = { at: nowText, message: 'as it was', outcome: 'acted', generation };
  return {
    observedGeneration: generation,
    ...(clusterId !== undefined && { clusterID: clusterId }),
    ...(clusterVersion !== undefined && { clusterVersion }),
    ...(existing && { existing }),
    ...(floor !== undefined && { revisionFloor: floor }),
    ...(auth && { auth }),
    ...(soak && { soak: { version: soak.version, since: soak.over ? daysAgo : nowText } }),
    ...(waited && { lastDecision: { kind: 'Wait', reason: waited, message: 'as it was', waitingSince: daysAgo } }),
    members: places.flatMap(({ name, ill }) =>
      ill === undefined ? [] : [{ name, healthy: false, unhealthySince: since[ill] }],
    ),
    history: [
      ...retired.map((target) => ({ ...told, action: 'retire-member', target, reason: 'RetiringMember' })),
      ...Array.from({ length: failedJoins }, () => ({
        ...told,
        action: 'remove-member',
        reason: 'RemovingFailedLearner',
      })),
    ],
  };
}
