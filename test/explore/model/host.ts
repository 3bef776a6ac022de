import { logSeen } from '../../../reconcile/cluster/act/requests/before-recovery.ts';
import type {
  CertificatesHost,
  EtcdHost,
  Host,
  MemberSeen,
  PodSeen,
  Stored,
} from '../../../reconcile/cluster/act/requests/host.ts';
import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import type { Shared } from '../../../reconcile/cluster/know/observation.ts';
import { isReachable } from '../../../reconcile/cluster/observe/ask-etcd.ts';
import type { MemberList, Refusal } from '../../../reconcile/interfaces/etcd.ts';
import { didNotAnswer, refusedByEtcd, unreachable } from '../../../reconcile/requests/refusals.ts';
import { madeBackup } from './backups.ts';
import { minorOf, movedLeader, runnerOf, runningVoters, serving, settleEtcd, votersOf, withFormation } from './etcd.ts';
import { lettingGo, lettingPodGo } from './going.ts';
import { compared } from './hands.ts';
import { authIn } from './host-auth.ts';
import { recoveryIn } from './host-recovery.ts';
import { spaceIn } from './host-space.ts';
import { clusterIdOf } from './lineage.ts';
import { listOf, look } from './look.ts';
import { type Formation, lacking, placeOf, type World, withoutPeer, withPlace } from './state.ts';
import { freshMemberId, freshUid, type Referred } from './uids.ts';

export interface Sending {
  readonly referred: Referred;
  /** It was sent before, and arrives now: what etcd had let in then is carried out. */
  readonly late?: boolean;
  /** Only a bug: the API server does not compare what was read. */
  readonly blind?: boolean;
  /** Only a bug: etcd lets any member go. */
  readonly unguarded?: boolean | undefined;
  /** Only a bug: members are added with a vote. */
  readonly voters?: boolean | undefined;
}

/** The world of a search as the place where the models of requests find and leave things. */
export function worldHost({
  referred,
  late = false,
  blind = false,
  unguarded = false,
  voters = false,
}: Sending): Host<World> {
  return {
    names: ({ places }) => places.map(({ name }) => name),
    get: storedIn,
    pod: podIn,
    isCurrent: ({ at }) => blind || at === 'current',
    make: (world, name, kind, build) =>
      withPlace(world, name, (place) =>
        place[kind]
          ? place
          : { ...place, [kind]: build({ uid: freshUid(uidPrefix[kind], place, referred), leaving: false }) },
      ),
    put: (world, name, kind, object) => withPlace(world, name, (place) => ({ ...place, [kind]: object })),
    remove: (world, name, kind) => {
      switch (kind) {
        case 'volume':
          return lettingGo(world, name);
        case 'pod':
          return lettingPodGo(world, name);
        case 'peer':
          return withPlace(world, name, withoutPeer);
        case 'configMap':
        case 'statefulSet':
          return withPlace(world, name, (place) => lacking(place, kind));
      }
    },
    awaitedBackup: ({ backups }, name) => (backups?.some((one) => one.name === name) ? 'ours' : 'missing'),
    makeBackup: madeBackup,
    shared: ({ shared }, kind) => shared[kind],
    putShared: (world, kind, object) => ({ ...world, shared: { ...world.shared, [kind]: object } as Shared }),
    // Labels are not part of this world.
    labelled: (world) => world,
    finalizer: (world, finalizer, present) => {
      const field = finalizer === 'backup' ? 'owesBackup' : 'finalizer';
      const { cluster } = world;
      return { ...world, cluster: present ? { ...cluster, [field]: true } : lacking(cluster, field) };
    },
    looked: (world) => {
      const { cluster, slots } = look(world, { nonce: '' });
      return { cluster, slots: slots.map((slot) => ({ ...slot, endpoint: { kind: 'unknown', cause: 'not asked' } })) };
    },
    etcd: etcdIn({ referred, late, unguarded, voters }),
    certificates: certificatesHost,
    space: spaceIn,
    auth: authIn,
    recovery: recoveryIn(referred),
  };
}

/** They are read, and no action of a scenario writes one. */
const certificatesHost: CertificatesHost<World> = {
  now: (world) => look(world, { nonce: '' }).at,
  authority: () => undefined,
  putAuthority: neverWritten,
  leaves: (world) => {
    const { certificates } = look(world, { nonce: '' });
    return certificates.kind === 'read' ? certificates.leaves : [];
  },
  putLeaf: neverWritten,
  putIssued: neverWritten,
};

function neverWritten(): never {
  throw new Error('the model signs certificates by itself');
}

const uidPrefix = {
  peer: 'peer',
  volume: 'volume',
  configMap: 'config',
  statefulSet: 'set',
} as const satisfies Record<keyof Stored, string>;

function storedIn<K extends keyof Stored>(world: World, name: string, kind: K): Stored[K] | undefined {
  const place = placeOf(world, name);
  if (kind !== 'statefulSet' || !place?.statefulSet) return place?.[kind] as Stored[K] | undefined;
  return compared(place.statefulSet, world) as Stored['statefulSet'] as Stored[K];
}

function podIn(world: World, name: string): PodSeen | undefined {
  const pod = placeOf(world, name)?.pod;
  if (!pod) return undefined;
  const { uid, leaving, ready, hash, inputs, everStarted } = pod;
  return { uid, leaving, ready, revision: hash, version: inputs.version, everStarted };
}

/** etcd's server, as far as it lets changes of the member list in. */
function etcdIn({ referred, late, unguarded, voters }: Required<Omit<Sending, 'blind'>>): EtcdHost<World> {
  return {
    list: (world): MemberList | undefined => {
      const formation = serving(world);
      return formation && { clusterId: clusterIdOf(formation), members: listOf(formation, world) };
    },
    members: answering,
    silent: (world) =>
      look(world, { nonce: '' }).slots.flatMap((slot) =>
        slot.endpoint.kind === 'unknown' && isReachable(slot) ? [slot.name] : [],
      ),
    hasQuorum: (world) => look(world, { nonce: '' }).membership.kind === 'known',
    logs: (world) =>
      look(world, { nonce: '' }).slots.flatMap(({ endpoint }) => {
        const told = endpoint.kind === 'known' ? endpoint.status : endpoint.metrics;
        return told ? [logSeen(told)] : [];
      }),
    version: (world) => {
      const version = serving(world)?.version;
      return version === undefined ? undefined : `${version}.0`;
    },
    add: (world, clusterId, { name }) => {
      const formation = leading(world, clusterId);
      if (formation.members.some((member) => member.name === name))
        throw refusedByEtcd('PeerUrlExists', `${name} is on the list`);
      if (formation.members.some(({ learner }) => learner))
        throw refusedByEtcd('TooManyLearners', 'there is a learner already');
      if (!late && runningVoters(world, formation).length < votersOf(formation).length)
        throw refusedByEtcd('UnhealthyCluster', 'not every voter is connected');
      const learner = { id: freshMemberId(world, referred), name, published: false, learner: voters !== true };
      return withFormation(world, { ...formation, members: [...formation.members, learner] });
    },
    promote: (world, clusterId, memberId) => {
      const formation = leading(world, clusterId);
      const found = formation.members.find(({ id }) => id === memberId);
      if (!found) throw refusedByEtcd('MemberNotFound', 'it is not on the list');
      if (!found.learner) throw refusedByEtcd('NotALearner', 'it is no learner');
      if (runnerOf(world, formation, memberId)?.disk?.behind !== false)
        throw refusedByEtcd('NotInSync', 'it is not in sync');
      const members = formation.members.map((one) => (one.id === memberId ? { ...one, learner: false } : one));
      return settleEtcd(withFormation(world, { ...formation, members }));
    },
    remove: (world, clusterId, memberId) => {
      const formation = leading(world, clusterId);
      const refusal = whyNotRemoved(world, formation, memberId, late || unguarded === true);
      if (refusal) throw refusedByEtcd(refusal, 'etcd does not let it go');
      const members = formation.members.filter(({ id }) => id !== memberId);
      return settleEtcd(withFormation(world, { ...formation, members }));
    },
    moveLeader: (world, clusterId, to) => {
      if (look(world, { nonce: '' }).membership.kind === 'unknown' && answering(world).length > 0)
        throw refusedByEtcd('NotLeader', 'no member that answers leads');
      const formation = leading(world, clusterId);
      if (!votersOf(formation).some(({ id }) => id === to)) throw refusedByEtcd('BadTransferee', 'it is no voter');
      return movedLeader(world, clusterId, to);
    },
    // As many entries as it takes, in one.
    advance: (world) => {
      const formation = serving(world);
      if (!formation) throw didNotAnswer();
      const oldest = minorOf(`${formation.version ?? formation.oldest}.0`);
      return withFormation(world, { ...formation, index: 'high', oldest });
    },
  };
}

function answering(world: World): readonly MemberSeen[] {
  const { slots, inherited = [] } = look(world, { nonce: '' });
  const others = inherited.map(({ memberId, endpoint }) => ({ name: memberId, endpoint }));
  return [...slots, ...others].flatMap(({ name, endpoint }) => {
    if (endpoint.kind === 'unknown') return [];
    const { memberId, clusterId, leader, revision } = endpoint.status;
    return [{ name, memberId, clusterId, leader, revision: String(revision) }];
  });
}

function leading(world: World, clusterId: string): Formation {
  const formation = serving(world);
  if (!formation) throw unreachable();
  if (clusterIdOf(formation) !== clusterId) throw refusedByEtcd('ClusterIdMismatch', 'another cluster answers');
  return formation;
}

/**
 * strict-reconfig-check, as of the moment in which etcd is asked; what was accepted then is committed whenever there is
 * a quorum.
 */
function whyNotRemoved(world: World, formation: Formation, memberId: string, late: boolean): Refusal | undefined {
  const member = formation.members.find(({ id }) => id === memberId);
  if (!member) return 'MemberNotFound';
  if (late || member.learner) return undefined;
  if (formation.leader === memberId) return 'IsLeader';
  const rest = votersOf(formation).filter(({ id }) => id !== memberId);
  if (rest.filter(({ published }) => published).length < quorumOf(rest.length)) return 'NotEnoughStarted';
  const runs = runningVoters(world, formation).length - 1;
  return !runnerOf(world, formation, memberId) || runs >= quorumOf(rest.length) ? undefined : 'UnhealthyCluster';
}
