import type { EtcdCluster, EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { VolumeState } from '../../../manifests/api/etcd-peer.ts';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { peerName, peerUrl } from '../../../manifests/render/names.ts';
import { peerInputs } from '../../../manifests/render/peer.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type {
  Certificates,
  ContainerView,
  Endpoint,
  Lease,
  Membership,
  Observation,
  PodView,
  Shared,
  Slot,
  StatefulSetView,
  VolumeView,
} from '../../../reconcile/cluster/know/observation.ts';
import type { Inputs } from '../../../reconcile/cluster/know/spec/inputs.ts';
import type { EndpointStatus, ListedMember } from '../../../reconcile/interfaces/etcd.ts';

/** Observations to decide from: a sound cluster, and what a test says is different about it. */

export const namespace = 'shop';
export const cluster = 'orders';
export const clusterId = 'c1c1';
export const token = 'tokentokentoken0';

export const baseSpec: EtcdClusterSpec = {
  replicas: 3,
  version: '3.6.16',
  storage: { size: '1Gi' },
  image: { repository: 'quay.io/coreos/etcd' },
  tls: { mode: 'Disabled' },
  volumeRetention: { whenDeleted: 'Retain', whenScaled: 'Delete' },
  suspend: false,
};

type Change<T> = (value: T) => T;

export interface Differences {
  readonly spec?: Partial<EtcdClusterSpec>;
  readonly metadata?: Partial<EtcdCluster['metadata']>;
  readonly status?: EtcdClusterStatus;
  /** By ordinal; `every` comes first. */
  readonly slots?: Readonly<Record<number, Change<Slot>>>;
  readonly every?: Change<Slot>;
  /** Slots that are not there at all. */
  readonly gone?: readonly number[];
  readonly more?: readonly Slot[];
  readonly membership?: Membership | Change<Membership>;
  readonly shared?: Partial<Shared>;
  readonly lease?: Lease;
  /** With any, the cluster was born under TLS, and signs for itself. */
  readonly certificates?: Certificates;
  readonly nonce?: string;
}

/** A cluster of this size that is born, sealed, healthy and converged, but for the differences. */
export function healthy(size: number, differences: Differences = {}): Observation {
  const { certificates = { kind: 'none' } } = differences;
  const tls = { mode: certificates.kind === 'none' ? ('Disabled' as const) : ('Managed' as const) };
  const spec = { ...baseSpec, replicas: size, tls, ...differences.spec };
  const inputs = peerInputs({ ...baseSpec, replicas: size, tls });
  const slots = Array.from({ length: size }, (_, ordinal) => sealedSlot(ordinal, size, inputs))
    .map(withRecord({ tlsMode: tls.mode }))
    .filter(({ ordinal }) => !differences.gone?.includes(ordinal))
    .map((slot) => differences.every?.(slot) ?? slot)
    .map((slot) => differences.slots?.[slot.ordinal]?.(slot) ?? slot);
  const listed = members(size);
  const { membership } = differences;
  return {
    at: new Date('2026-01-02T03:04:05Z'),
    nonce: differences.nonce ?? 'nonce0nonce0nonce0',
    cluster: {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: cluster, namespace, uid: 'cluster-uid', generation: 3, ...differences.metadata },
      spec,
      ...(differences.status && { status: differences.status }),
    },
    slots: [...slots, ...(differences.more ?? [])],
    shared: { ...presentShared(size), ...differences.shared },
    certificates,
    membership: typeof membership === 'function' ? membership(listed) : (membership ?? listed),
    clusterVersion: '3.6.0',
    lease: differences.lease ?? { kind: 'free' },
  };
}

/** Before anything of it exists. */
export function unborn(size: number, differences: Differences = {}): Observation {
  const ordinals = Array.from({ length: size }, (_, ordinal) => ordinal);
  const shared: Partial<Shared> = { clientService: { state: 'missing' }, ...differences.shared };
  return healthy(size, { gone: ordinals, membership: noQuorum('no member runs'), ...differences, shared });
}

/** Everything recorded and prepared, nothing started. */
export function prepared(size: number, differences: Differences = {}): Observation {
  const { every = (slot: Slot) => slot, ...rest } = differences;
  return healthy(size, {
    membership: noQuorum('no member runs'),
    shared: { clientService: { state: 'missing' } },
    ...rest,
    every: (slot) => every(notStarted(slot)),
  });
}

/** Every StatefulSet is there, and every pod, and none of them runs yet. */
export function starting(size: number, differences: Differences = {}): Observation {
  const { every = (slot: Slot) => slot, ...rest } = differences;
  return healthy(size, {
    membership: noQuorum('no member runs'),
    shared: { clientService: { state: 'missing' } },
    ...rest,
    every: (slot) => every(waiting(unsealed(slot))),
  });
}

export function noQuorum(cause: string): Membership {
  return { kind: 'unknown', cause };
}

export function initialCluster(size: number): VolumeRecord['initialCluster'] {
  return Array.from({ length: size }, (_, ordinal) => {
    const name = peerName(cluster, ordinal);
    return { name, url: peerUrl(namespace, cluster, name) };
  });
}

export function recordFor(ordinal: number, size: number, state: VolumeState = 'sealed'): VolumeRecord {
  const started = state !== 'bootstrapping' && state !== 'joining';
  return {
    token,
    initialCluster: initialCluster(size),
    ...(started && { clusterId, memberId: memberId(ordinal) }),
    version: baseSpec.version,
    ...(started && { minorSince: { minor: '3.6', index: '0' } }),
    tlsMode: 'Disabled',
    state,
  };
}

export function memberId(ordinal: number): string {
  return `a${ordinal}`;
}

export function members(size: number): Extract<Membership, { kind: 'known' }> {
  return {
    kind: 'known',
    clusterId,
    members: initialCluster(size).map(
      ({ name, url }, ordinal): ListedMember => ({
        id: memberId(ordinal),
        name,
        peerURLs: [url],
        clientURLs: [],
        isLearner: false,
      }),
    ),
  };
}

export function endpoint(ordinal: number, status: Partial<EndpointStatus> = {}): Endpoint {
  return {
    kind: 'known',
    status: {
      memberId: memberId(ordinal),
      clusterId,
      leader: memberId(0),
      version: baseSpec.version,
      isLearner: false,
      raftIndex: 1000n,
      raftAppliedIndex: 1000n,
      raftTerm: 2n,
      revision: 10n,
      dbSize: 20480n,
      dbSizeInUse: 16384n,
      errors: [],
      ...status,
    },
  };
}

export const silent: Endpoint = { kind: 'unknown', cause: 'nothing runs there' };

const running: ContainerView = { state: 'running', reason: '', everStarted: true, restarts: 0, lastWords: '' };

export function sealedSlot(ordinal: number, size: number, inputs: Inputs): Slot {
  const name = peerName(cluster, ordinal);
  const record = recordFor(ordinal, size);
  const variables = bootstrapVariables(record, name);
  return {
    name,
    ordinal,
    peer: {
      uid: `peer-${ordinal}`,
      leaving: false,
      current: true,
      inputs,
      bootstrap: { token, initialCluster: [...initialCluster(size)], state: 'New' },
    },
    volume: {
      uid: `volume-${ordinal}`,
      leaving: false,
      record: { kind: 'valid', record },
      bound: true,
      lost: false,
      size: '1Gi',
    },
    configMap: {
      uid: `config-${ordinal}`,
      leaving: false,
      current: true,
      initialCluster: variables.ETCD_INITIAL_CLUSTER,
      initialClusterState: variables.ETCD_INITIAL_CLUSTER_STATE,
      immutable: true,
    },
    statefulSet: {
      uid: `set-${ordinal}`,
      leaving: false,
      current: true,
      inputsHash: inputsHash(inputs),
      updateRevision: 'revision-1',
    },
    pod: {
      uid: `pod-${ordinal}`,
      leaving: false,
      ready: true,
      upToDate: 'yes',
      address: `10.244.0.${ordinal + 1}`,
      createdAt: new Date('2026-01-01T00:00:00Z'),
      container: running,
    },
    endpoint: endpoint(ordinal),
  };
}

/** Its member has not been seen started: the volume says bootstrapping, and the ConfigMap names it. */
export function unsealed(slot: Slot): Slot {
  const record = slot.volume?.record.kind === 'valid' ? slot.volume.record.record : undefined;
  if (!slot.volume || !record || !slot.configMap) return slot;
  const { clusterId: _, memberId: __, ...rest } = record;
  const fresh: VolumeRecord = { ...rest, state: 'bootstrapping', mayHaveStarted: slot.peer?.uid ?? 'peer-that-went' };
  const variables = bootstrapVariables(fresh, slot.name);
  return {
    ...slot,
    volume: { ...slot.volume, record: { kind: 'valid', record: fresh } },
    configMap: {
      ...slot.configMap,
      initialCluster: variables.ETCD_INITIAL_CLUSTER,
      initialClusterState: variables.ETCD_INITIAL_CLUSTER_STATE,
      immutable: false,
    },
  };
}

/** Recorded, with peer and ConfigMap; its volume waits for a first pod. */
export function notStarted(slot: Slot): Slot {
  return all(unsealed, withEndpoint(silent), without('statefulSet', 'pod'), fresh)(slot);
}

/** Nobody was ever started on its volume. */
export function fresh(slot: Slot): Slot {
  if (slot.volume?.record.kind !== 'valid') return slot;
  const { mayHaveStarted: _, ...record } = slot.volume.record.record;
  return withVolume({ bound: false, record: { kind: 'valid', record } })(slot);
}

/** Its pod is there, and its container has never run. */
export function waiting(slot: Slot): Slot {
  return withContainer({ state: 'waiting', reason: 'ContainerCreating', everStarted: false })(
    withPod({ ready: false })(withEndpoint(silent)(slot)),
  );
}

/** Its container exits again and again, by itself. */
export function crashing(slot: Slot): Slot {
  return endingAs({ code: 1, reason: 'Error' })(slot);
}

/** Its container ends again and again, like this. */
export function endingAs(exit: NonNullable<ContainerView['exit']>): Change<Slot> {
  return all(
    withEndpoint(silent),
    withPod({ ready: false }),
    withContainer({ state: 'waiting', reason: 'CrashLoopBackOff', everStarted: true, restarts: 4, exit }),
  );
}

export function without(...keys: readonly ('peer' | 'volume' | 'configMap' | 'statefulSet' | 'pod')[]): Change<Slot> {
  return (slot) =>
    Object.fromEntries(Object.entries(slot).filter(([key]) => !keys.some((gone) => gone === key))) as unknown as Slot;
}

export function withEndpoint(found: Endpoint): Change<Slot> {
  return (slot) => ({ ...slot, endpoint: found });
}

export function withPod(change: Partial<PodView>): Change<Slot> {
  return (slot) => (slot.pod ? { ...slot, pod: { ...slot.pod, ...change } } : slot);
}

export function withSet(change: Partial<StatefulSetView>): Change<Slot> {
  return (slot) => (slot.statefulSet ? { ...slot, statefulSet: { ...slot.statefulSet, ...change } } : slot);
}

export function withContainer(change: Partial<ContainerView>): Change<Slot> {
  return (slot) =>
    slot.pod ? { ...slot, pod: { ...slot.pod, container: { ...slot.pod.container, ...change } } } : slot;
}

export function withVolume(change: Partial<VolumeView>): Change<Slot> {
  return (slot) => (slot.volume ? { ...slot, volume: { ...slot.volume, ...change } } : slot);
}

export function withRecord(change: Partial<VolumeRecord>): Change<Slot> {
  return (slot) => {
    if (slot.volume?.record.kind !== 'valid') return slot;
    return withVolume({ record: { kind: 'valid', record: { ...slot.volume.record.record, ...change } } })(slot);
  };
}

export function withInputs(change: Partial<Inputs>): Change<Slot> {
  return (slot) => (slot.peer ? { ...slot, peer: { ...slot.peer, inputs: { ...slot.peer.inputs, ...change } } } : slot);
}

export function all(...changes: readonly Change<Slot>[]): Change<Slot> {
  return (slot) => changes.reduce((changed, change) => change(changed), slot);
}

function presentShared(size: number): Shared {
  const minAvailable = Math.floor(size / 2) + 1;
  return {
    headlessService: { state: 'present' },
    clientService: { state: 'present' },
    disruptionBudget: size > 1 ? { state: 'present', minAvailable } : { state: 'missing' },
    networkPolicy: { state: 'present' },
    externalService: { state: 'missing' },
    revocations: { state: 'missing' },
  };
}
