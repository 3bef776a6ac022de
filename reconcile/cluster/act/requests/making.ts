import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { ConfigMap, PersistentVolumeClaim, StatefulSet } from '../../../../manifests/kube-types.ts';
import { bootstrapVariables, isSealed } from '../../../../manifests/render/bootstrap-variables.ts';
import { configMap } from '../../../../manifests/render/config-map.ts';
import { inputsHash } from '../../../../manifests/render/inputs-hash.ts';
import { ordinalOf } from '../../../../manifests/render/names.ts';
import { isControlledBy, isOfItsClaim } from '../../../../manifests/render/owner-reference.ts';
import { etcdPeer } from '../../../../manifests/render/peer.ts';
import { statefulSet } from '../../../../manifests/render/stateful-set.ts';
import { volumeClaim } from '../../../../manifests/render/volume-claim.ts';
import { readVolumeRecord, unstarted, type VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { resources } from '../../../interfaces/kube.ts';
import { alreadyExists } from '../../../requests/refusals.ts';
import type { ConfigMapView, PeerView, VolumeView } from '../../know/observation.ts';
import { moved } from '../../know/outcome.ts';
import type { Inputs } from '../../know/spec/inputs.ts';
import { peerView, volumeView } from '../../observe/slots.ts';
import { createOurs, nameTaken } from '../actions/context.ts';
import type { Host } from './host.ts';
import type { Live } from './live.ts';
import type { Read } from './objects.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/**
 * What members are made of, made once, however often that is carried out: what is there already is fine when it is
 * ours. Always by POST, so that an invocation that is late fails at the API server instead of changing what others did
 * since.
 */

/** One member as it is recorded. */
interface Recorded {
  readonly name: string;
  readonly record: VolumeRecord;
  readonly inputs: Inputs;
}

export interface Made<View> {
  readonly view: Read<View>;
  /** It was there before. */
  readonly existed: boolean;
}

/** @throws {StepError} `NameTaken` when there is another volume of that name. */
export const makeVolume = defineRequest('makeVolume', {
  words: ({ name }: Recorded) => `creates volume ${name}`,
  writes: ({ name }) => ({ fence: 'absent', object: 'volume', name }),
  live: async ({ name, record, inputs }, live): Promise<Made<VolumeView>> => {
    const wanted = volumeClaim(peerFor({ name, record, inputs }, live), record);
    const { object, existed } = await createOurs<PersistentVolumeClaim>(
      live,
      resources.volumeClaims,
      wanted,
      ({ metadata }) => {
        const read = readVolumeRecord(metadata.annotations);
        return read.kind === 'valid' && read.record.token === record.token && metadata.deletionTimestamp === undefined;
      },
    );
    return { view: { ...volumeView(object), readAt: live.keep('volume', name, object) }, existed };
  },
  model: (state, { name, record, inputs: { storage } }, host) => {
    const found = host.get(state, name, 'volume');
    if (found) {
      const isOurs = found.record.kind === 'valid' && found.record.record.token === record.token && !found.leaving;
      if (!isOurs) throw nameTaken(resources.volumeClaims, name);
      return { state, answer: { view: { ...found, readAt: at('volume', name) }, existed: true } };
    }
    return made(withVolume(state, { name, record, inputs: { storage } }, host), name, 'volume', host);
  },
});

/** A volume in the place of one that was never bound. @throws {KubeError} when there is one again. */
export const makeVolumeAnew = defineRequest('makeVolumeAnew', {
  words: ({ peer: { name } }: { readonly peer: ReadAt; readonly record: VolumeRecord }) =>
    `creates volume ${name} anew`,
  writes: ({ peer: { name } }) => ({ fence: 'absent', object: 'volume', name }),
  live: async ({ peer, record }, live): Promise<void> => {
    const wanted = volumeClaim(live.kept<EtcdPeer>(peer), record);
    await live.kube.create<PersistentVolumeClaim>(resources.volumeClaims, wanted, { signal: live.signal });
  },
  model: (state, { peer: { name }, record }, host) => {
    const peer = host.get(state, name, 'peer');
    if (host.get(state, name, 'volume')) throw alreadyExists(`there is another volume ${name}`);
    if (!peer) throw moved(`peer ${name} has gone since it was looked at`);
    return { state: withVolume(state, { name, record, inputs: peer.inputs }, host), answer: undefined };
  },
});

function withVolume<S>(
  state: S,
  {
    name,
    record,
    inputs,
  }: { readonly name: string; readonly record: VolumeRecord; readonly inputs: Pick<Inputs, 'storage'> },
  host: Host<S>,
): S {
  const { size, storageClassName } = inputs.storage;
  return host.make(state, name, 'volume', (fresh) => ({
    ...fresh,
    record: { kind: 'valid', record: unstarted(record) },
    bound: false,
    lost: false,
    size: String(size),
    ...(storageClassName !== undefined && { storageClassName }),
  }));
}

/** @throws {StepError} `NameTaken` when there is another peer of that name. */
export const makePeer = defineRequest('makePeer', {
  words: ({ name }: Recorded) => `creates peer ${name}`,
  writes: ({ name }) => ({ fence: 'absent', object: 'peer', name }),
  live: async (member, live): Promise<Made<PeerView>> => {
    const uid = live.cluster.metadata.uid ?? '';
    const { object, existed } = await createOurs<EtcdPeer>(live, resources.peers, peerFor(member, live), (found) =>
      isControlledBy(found, uid),
    );
    return { view: { ...peerView(object, uid), readAt: live.keep('peer', member.name, object) }, existed };
  },
  model: (state, { name, record, inputs }, host) => {
    const found = host.get(state, name, 'peer');
    if (found) {
      if (!found.current) throw nameTaken(resources.peers, name);
      return { state, answer: { view: { ...found, readAt: at('peer', name) }, existed: true } };
    }
    const bootstrap = bootstrapOf(record);
    const after = host.make(state, name, 'peer', (fresh) => ({ ...fresh, current: true, inputs, bootstrap }));
    return made(after, name, 'peer', host);
  },
});

function peerFor({ name, record, inputs }: Recorded, { cluster }: Live): EtcdPeer {
  const ordinal = ordinalOf(cluster.metadata.name, name);
  if (ordinal === undefined) throw moved(`${name} is not the name of a peer of ${cluster.metadata.name}`);
  return etcdPeer(cluster, { ...cluster.spec, ...inputs }, ordinal, bootstrapOf(record));
}

function bootstrapOf({ token, initialCluster, state }: VolumeRecord): PeerView['bootstrap'] {
  return { token, initialCluster: [...initialCluster], state: state === 'joining' ? 'Existing' : 'New' };
}

/** A bootstrap ConfigMap, which says what the volume said when it was read, and goes with it. */
interface Following {
  readonly peer: ReadAt;
  readonly volume: ReadAt;
  readonly volumeUid: string;
  readonly record: VolumeRecord;
}

/** @throws {StepError} when there is another one of that name. */
export const makeConfigMap = defineRequest('makeConfigMap', {
  words: ({ volume: { name } }: Following) => `creates ConfigMap ${name}`,
  writes: ({ volume: { name } }) => ({ fence: 'absent', object: 'configMap', name }),
  live: async ({ peer, volume, record }, live): Promise<{ readonly existed: boolean }> => {
    const [owner, claim] = [live.kept<EtcdPeer>(peer), live.kept<PersistentVolumeClaim>(volume)];
    const wanted = configMap(owner, record, claim);
    const { existed } = await createOurs<ConfigMap>(live, resources.configMaps, wanted, (found) => {
      if ([claim, owner].some(({ metadata }) => isControlledBy(found, metadata.uid ?? ''))) return true;
      throw notOurs(found.metadata.name, isOfItsClaim(found));
    });
    return { existed };
  },
  model: (state, { volume: { name }, volumeUid, record }, host) => {
    const found = host.get(state, name, 'configMap');
    if (found && !found.current) throw notOurs(name, !found.foreign);
    if (found) return { state, answer: { existed: true } };
    const current = host.get(state, name, 'volume')?.uid === volumeUid;
    const view = contentsFor(record, name);
    return {
      state: host.make(state, name, 'configMap', (fresh) => ({ ...fresh, current, ...view })),
      answer: { existed: false },
    };
  },
});

/** One whose PVC has gone is being collected. */
export function notOurs(name: string, isOfItsClaim: boolean): Error {
  return isOfItsClaim ? moved(`ConfigMap ${name} is that of an earlier PVC`) : nameTaken(resources.configMaps, name);
}

export function contentsFor(
  record: VolumeRecord,
  name: string,
): Pick<ConfigMapView, 'initialCluster' | 'initialClusterState' | 'immutable'> {
  const { ETCD_INITIAL_CLUSTER, ETCD_INITIAL_CLUSTER_STATE } = bootstrapVariables(record, name);
  return {
    initialCluster: ETCD_INITIAL_CLUSTER,
    initialClusterState: ETCD_INITIAL_CLUSTER_STATE,
    immutable: isSealed(record.state),
  };
}

interface OfPeer {
  readonly peer: ReadAt;
  readonly peerUid: string;
  readonly inputs: Inputs;
}

/** @throws {StepError} `NameTaken` when there is another one of that name. */
export const makeStatefulSet = defineRequest('makeStatefulSet', {
  words: ({ peer: { name } }: OfPeer) => `creates StatefulSet ${name}`,
  writes: ({ peer: { name } }) => ({ fence: 'absent', object: 'statefulSet', name }),
  live: async ({ peer, peerUid }, live): Promise<void> => {
    const wanted = statefulSet(live.kept<EtcdPeer>(peer), await live.offered());
    await createOurs<StatefulSet>(live, resources.statefulSets, wanted, (found) => isControlledBy(found, peerUid));
  },
  model: (state, { peer: { name }, peerUid, inputs }, host) => {
    const found = host.get(state, name, 'statefulSet');
    const current = host.get(state, name, 'peer')?.uid === peerUid;
    if (found && !(found.current && current)) throw nameTaken(resources.statefulSets, name);
    if (found) return { state, answer: undefined };
    const hash = inputsHash(inputs);
    const view = { current, inputs, inputsHash: hash, updateRevision: hash };
    return { state: host.make(state, name, 'statefulSet', (fresh) => ({ ...fresh, ...view })), answer: undefined };
  },
});

function made<S, K extends 'volume' | 'peer'>(state: S, name: string, kind: K, host: Host<S>) {
  const view = host.get(state, name, kind);
  if (!view) throw moved(`${kind} ${name} could not be made`);
  return { state, answer: { view: { ...view, readAt: at(kind, name) }, existed: false } };
}

function at(object: ReadAt['object'], name: string): ReadAt {
  return { object, name, at: 'current' };
}
