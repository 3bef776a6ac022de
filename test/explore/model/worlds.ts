import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { peerName } from '../../../manifests/render/names.ts';
import { peerInputs } from '../../../manifests/render/peer.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import { minorOf } from './etcd.ts';
import { clusterName, urlOf } from './look.ts';
import type { Formation, Left, Place, State, World } from './state.ts';

/** Where searches begin: before a birth, or with a cluster that is well. */

export const baseSpec: EtcdClusterSpec = {
  replicas: 3,
  version: '3.6.16',
  storage: { size: '1Gi' },
  image: { repository: 'quay.io/coreos/etcd' },
  tls: { mode: 'Disabled' },
  volumeRetention: { whenDeleted: 'Retain', whenScaled: 'Delete' },
  suspend: false,
};

const missing = { state: 'missing' } as const;
const present = { state: 'present' } as const;

/** A resource that was just applied, and nothing else. */
export function unborn(spec: Partial<EtcdClusterSpec>, places: number): World {
  return {
    cluster: { spec: { ...baseSpec, ...spec }, generation: 1, uid: 'cluster-1', memory: {} },
    places: emptyPlaces(places),
    shared: {
      headlessService: missing,
      clientService: missing,
      disruptionBudget: missing,
      networkPolicy: missing,
      externalService: missing,
      revocations: missing,
    },
    formations: [],
  };
}

function emptyPlaces(count: number): readonly Place[] {
  return Array.from({ length: count }, (_, ordinal) => ({ name: peerName(clusterName, ordinal), ordinal }));
}

/** With a place for every member that so many faults may take. */
export function withRoom(world: World, more: number): World {
  const ordinals = new Set(world.places.map(({ ordinal }) => ordinal));
  const free = emptyPlaces(ordinals.size + more).filter(({ ordinal }) => !ordinals.has(ordinal));
  return { ...world, places: [...world.places, ...free].toSorted((a, b) => a.ordinal - b.ordinal) };
}

/** Born, sealed, healthy, and all of it done. */
export function healthy(spec: Partial<EtcdClusterSpec>, places: number): World {
  const empty = unborn(spec, places);
  const whole = empty.cluster.spec;
  const token = 'token1cluster-1';
  const id = `c-${token}`;
  const names = empty.places.slice(0, whole.replicas).map(({ name }) => name);
  const inputs = peerInputs(whole);
  const initialCluster = names.map((name) => ({ name, url: urlOf(name, inputs.tls.mode) }));
  const formation: Formation = {
    id,
    token,
    members: names.map((name) => ({ id: `${id}-${name}`, name, published: true, learner: false })),
    leader: `${id}-${names.at(-1)}`,
    version: minorOf(whole.version),
    oldest: minorOf(whole.version),
    index: 'low',
    formed: true,
  };
  const minorSince = { minor: minorOf(whole.version), index: '0' };
  const member = (place: Place): Place => {
    const { name, ordinal } = place;
    const memberId = `${id}-${name}`;
    const record: VolumeRecord = {
      ...{ token, initialCluster, clusterId: id, memberId, version: whole.version, minorSince },
      tlsMode: inputs.tls.mode,
      state: 'sealed',
    };
    const variables = bootstrapVariables(record, name);
    const hash = inputsHash(inputs);
    const ours = { leaving: false, current: true };
    return {
      ...place,
      peer: { uid: `peer-${ordinal}.0`, ...ours, inputs, bootstrap: { token, initialCluster, state: 'New' } },
      volume: {
        uid: `volume-${ordinal}.0`,
        leaving: false,
        record: { kind: 'valid', record },
        bound: true,
        lost: false,
        size: String(whole.storage.size),
      },
      configMap: {
        uid: `config-${ordinal}.0`,
        ...ours,
        initialCluster: variables.ETCD_INITIAL_CLUSTER,
        initialClusterState: variables.ETCD_INITIAL_CLUSTER_STATE,
        immutable: true,
      },
      statefulSet: { uid: `set-${ordinal}.0`, ...ours, inputs, inputsHash: hash, updateRevision: hash },
      pod: {
        uid: `pod-${ordinal}.0`,
        leaving: false,
        ready: true,
        inputs,
        hash,
        container: 'running',
        everStarted: true,
      },
      disk: { formation: id, memberId, behind: false },
      process: { formation: id, memberId, version: whole.version },
    };
  };
  return {
    cluster: {
      ...empty.cluster,
      memory: { clusterId: id, clusterVersion: `${formation.version}.0` },
      ...(whole.volumeRetention?.whenDeleted === 'Delete' && { finalizer: true }),
      ...((whole.backup?.beforeDeletion ?? 'Never') !== 'Never' && { owesBackup: true }),
    },
    places: empty.places.map((place) => (names.includes(place.name) ? member(place) : place)),
    shared: {
      headlessService: present,
      clientService: present,
      networkPolicy: present,
      externalService: spec.service ? present : missing,
      revocations: spec.tls?.revokedClientSerials ? present : missing,
      disruptionBudget: names.length > 1 ? { state: 'present', minAvailable: quorumOf(names.length) } : missing,
    },
    formations: [formation],
  };
}

/** A resource that was just applied, and asks to take over a cluster that others run; their last member leads. */
export function besideOthers(
  spec: Partial<EtcdClusterSpec>,
  { others, places }: { readonly others: number; readonly places: number },
): World {
  const id = 'c-old';
  const names = Array.from({ length: others }, (_, n) => `old-${n}`);
  const members = names.map((name) => ({ id: `${id}-${name}`, name, published: true, learner: false }));
  const existing = { clusterID: id, memberIDs: members.map((member) => member.id), podLabels: { app: 'old' } };
  const empty = unborn({ ...spec, bootstrap: { existing } }, places);
  const { version } = empty.cluster.spec;
  const minor = minorOf(version);
  return {
    ...empty,
    places: [
      ...empty.places,
      ...members.map(
        ({ id: memberId, name }, n): Place => ({
          name,
          ordinal: 100 + n,
          outside: true,
          disk: { formation: id, memberId, behind: false },
          process: { formation: id, memberId, version },
        }),
      ),
    ],
    formations: [
      {
        ...{ id, token: 'of others', members, version: minor, oldest: minor, index: 'low', formed: true },
        leader: `${id}-${names.at(-1)}`,
      },
    ],
  };
}

export function beginning(world: World, left: Left): State {
  return { world, late: [], left };
}
