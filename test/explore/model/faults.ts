import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import { fails, goes, growsOld, objectsGo } from './backups.ts';
import { written } from './clients.ts';
import {
  formationOf,
  hasQuorum,
  isServed,
  movedLeader,
  runnerOf,
  runningVoters,
  serving,
  settleEtcd,
  votersOf,
  withFormation,
} from './etcd.ts';
import type { Fault } from './fault.ts';
import type { WorldFault } from './fault-kind.ts';
import { lettingGo, lettingPodGo } from './going.ts';
import { handFaults } from './hands.ts';
import { killedAtBirth } from './kubernetes.ts';
import { clusterIdOf } from './lineage.ts';
import { namedAnew, namedGo, namedTurn } from './named-backups.ts';
import { nodeFaults } from './node-faults.ts';
import { lacking, type Place, withoutPeer, withPlace } from './state.ts';
import { userFaults } from './user-hands.ts';

/** Faults that strike one member. */
export const worldFaults = {
  ...nodeFaults,
  ...handFaults,
  ...userFaults,
  crash: {
    what: 'the container of # ends',
    strike: (world, { name, process }) => process && settleEtcd(withPlace(world, name, exited)),
  },
  blank: {
    what: 'etcd of # is killed before the first entry of its log',
    strike: killedAtBirth,
  },
  eviction: {
    what: 'somebody deletes the pod of #',
    strike: (world, { name, pod }) => (pod && !pod.leaving ? lettingPodGo(world, name) : undefined),
  },
  wipe: {
    what: 'the disk of # is wiped',
    strike: (world, { name, disk }) =>
      disk && settleEtcd(withPlace(world, name, (one) => lacking(exited(one), 'disk'))),
  },
  claim: {
    what: 'somebody deletes the volume claim of #',
    strike: (world, { name, volume }) => (volume && !volume.leaving ? lettingGo(world, name) : undefined),
  },
  lost: {
    what: 'what is behind the volume of # is lost',
    strike: (world, { name, volume }) =>
      volume?.bound && !volume.lost
        ? settleEtcd(
            withPlace(world, name, (one) => lacking({ ...exited(one), volume: { ...volume, lost: true } }, 'disk')),
          )
        : undefined,
  },
  peer: {
    what: 'somebody deletes peer #',
    strike: (world, { name, peer }) => peer && withPlace(world, name, withoutPeer),
  },
  set: {
    what: 'somebody deletes StatefulSet #',
    strike: (world, { name, statefulSet }) =>
      statefulSet && withPlace(world, name, (one) => lacking(one, 'statefulSet')),
  },
  configMap: {
    what: 'somebody deletes ConfigMap #',
    strike: (world, { name, configMap }) => configMap && withPlace(world, name, (one) => lacking(one, 'configMap')),
  },
  remove: {
    what: 'somebody removes # with etcdctl',
    strike: (world, { name, disk }) => {
      const formation = serving(world);
      const member = formation?.members.find(({ id }) => id === disk?.memberId);
      if (!formation || !member || member.name !== name || formation.leader === member.id) return undefined;
      const rest = votersOf(formation).filter((one) => one !== member);
      const running = rest.filter(({ id }) => runnerOf(world, formation, id)).length;
      if (running < quorumOf(rest.length)) return undefined;
      const members = formation.members.filter((one) => one !== member);
      return settleEtcd(withFormation(world, { ...formation, members }));
    },
  },
  leader: {
    what: 'leadership goes to #',
    strike: (world, { process, disk }) => {
      const formation = formationOf(world, process?.formation);
      if (!process || !formation || disk?.behind || formation.leader === process.memberId) return undefined;
      if (!votersOf(formation).some(({ id }) => id === process.memberId)) return undefined;
      return movedLeader(world, clusterIdOf(formation), process.memberId);
    },
  },
  lag: {
    what: 'a write is acknowledged that # does not have yet',
    strike: (world, place) => {
      const formation = formationOf(world, place.process?.formation);
      const { disk } = place;
      if (!formation || !disk || disk.behind || !isServed(world, place) || formation.leader === disk.memberId)
        return undefined;
      const others = runningVoters(world, formation).filter(
        ({ id }) => id !== disk.memberId && runnerOf(world, formation, id)?.disk?.behind === false,
      );
      if (!hasQuorum(world, formation) || others.length < quorumOf(votersOf(formation).length)) return undefined;
      return withPlace(world, place.name, (one) => ({ ...one, disk: { ...disk, behind: true } }));
    },
  },
  apart: {
    what: 'the network keeps every member from every other',
    strike: (world, { ordinal }) => (ordinal > 0 || world.apart ? undefined : settleEtcd({ ...world, apart: true })),
  },
  writes: {
    what: 'clients write for years',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : written(world)),
  },
  backupFails: {
    what: 'the EtcdBackup fails',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : fails(world)),
  },
  backupAges: {
    what: 'the EtcdBackup grows too old',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : growsOld(world)),
  },
  backupGoes: {
    what: 'a person deletes the EtcdBackups',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : goes(world)),
  },
  objectGoes: {
    what: 'what is in the store goes',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : objectsGo(world)),
  },
  namedGoes: {
    what: 'a person deletes the EtcdBackups that specs name',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : namedGo(world)),
  },
  namedTurns: {
    what: 'the EtcdBackups that specs name become Ready, or are Ready no more',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : namedTurn(world)),
  },
  namedAnew: {
    what: 'a person makes the EtcdBackups that specs name anew, of another etcd cluster',
    strike: (world, { ordinal }) => (ordinal > 0 ? undefined : namedAnew(world)),
  },
  status: {
    what: 'the resource is restored without its status',
    strike: (world, { ordinal }) => {
      const told = world.places.some(({ ill }) => ill !== undefined) || Object.keys(world.cluster.memory).length > 0;
      if (ordinal > 0 || (!told && !world.cluster.abandoned)) return undefined;
      const places = world.places.map((place) => (place.ill === undefined ? place : lacking(place, 'ill')));
      return { ...world, places, cluster: { ...lacking(world.cluster, 'abandoned'), memory: {} } };
    },
  },
} as const satisfies Readonly<Record<WorldFault, Fault>>;

/** The container ended; kubelet starts it again. */
function exited(place: Place): Place {
  const rest = lacking(place, 'process');
  if (place.pod?.container !== 'running') return rest;
  return { ...rest, pod: { ...place.pod, ready: false, container: 'exited' } };
}
