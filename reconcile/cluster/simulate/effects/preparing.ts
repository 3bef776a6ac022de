import type { PeerBootstrap } from '../../../../manifests/api/etcd-peer.ts';
import type { Storage } from '../../../../manifests/api/member-settings.ts';
import { bootstrapVariables, isSealed } from '../../../../manifests/build/bootstrap-variables.ts';
import { inputsHash } from '../../../../manifests/build/inputs-hash.ts';
import { peerInputs } from '../../../../manifests/build/peer.ts';
import { isUnstarted, unstarted, type VolumeRecord } from '../../../../manifests/build/volume-record.ts';
import type { Inputs } from '../../effective.ts';
import { recordOf } from '../../life.ts';
import type { Observation, Slot, VolumeView } from '../../observation.ts';
import { isOnOtherDisk } from '../../sealed-disk.ts';
import { create, type Effect, type EffectsOf, oneByOne, onRecord, onSlot, slotOf, wave, without } from '../effect.ts';
import { withTemplate } from '../knowledge.ts';
import { withLeavesOf } from './leaves.ts';
import { noteNextVersion } from './versions.ts';

/** What members are made of before and until they start. */

export const prepareMembers: EffectsOf<'prepare-members'> = ({ members, inputs }, observation) => {
  const replaced = members
    .map(({ name }) => name)
    .filter((name) => slotOf(observation, name)?.peer?.replacingVolume !== undefined);
  return [
    ...wave(...members.map(({ name, record }) => makeVolume(name, record, inputs.storage))),
    ...wave(...members.map(({ name, record }) => makePeer(name, record, inputs))),
    ...wave(...replaced.map(noteFirstStart)),
    ...wave(...replaced.map(unmark)),
    ...wave(...members.map(({ name }) => makeConfigMap(name))),
  ];
};

function makeVolume(name: string, record: VolumeRecord, { size, storageClassName }: Storage): Effect {
  return create(name, 'volume', (fresh) => ({
    ...fresh,
    record: { kind: 'valid', record: unstarted(record) },
    bound: false,
    lost: false,
    size: String(size),
    ...(storageClassName !== undefined && { storageClassName }),
  }));
}

function noteFirstStart(name: string): Effect {
  return onRecord(name, (record) => (isUnstarted(record) ? { ...record, mayHaveStarted: true } : record));
}

function makePeer(name: string, { token, initialCluster, state }: VolumeRecord, inputs: Inputs): Effect {
  const bootstrap: PeerBootstrap = {
    token,
    initialCluster: [...initialCluster],
    state: state === 'joining' ? 'Existing' : 'New',
  };
  const make = create(name, 'peer', (fresh, { volume }, { cluster }) => ({
    ...fresh,
    current: true,
    inputs: peerInputs({ ...cluster.spec, ...inputs, ...storageOf(volume, inputs) }),
    bootstrap,
  }));
  return (observation) => withLeavesOf(make(observation));
}

/** A volume that was there before its peer, and was never bound, may be otherwise than the spec asks by now. */
function storageOf(volume: VolumeView | undefined, { storage }: Inputs): Pick<Inputs, 'storage'> {
  if (!volume || volume.bound) return { storage };
  const { size, storageClassName } = volume;
  const same = size === String(storage.size) && storageClassName === storage.storageClassName;
  return { storage: same ? storage : { size, ...(storageClassName !== undefined && { storageClassName }) } };
}

function makeConfigMap(name: string): Effect {
  return create(name, 'configMap', (fresh, slot) => {
    const record = recordOf(slot);
    return slot.peer && record && !isOnOtherDisk(slot)
      ? { ...fresh, current: true, ...contentsFor(record, name) }
      : undefined;
  });
}

function contentsFor(record: VolumeRecord, name: string) {
  const { ETCD_INITIAL_CLUSTER, ETCD_INITIAL_CLUSTER_STATE } = bootstrapVariables(record, name);
  return {
    initialCluster: ETCD_INITIAL_CLUSTER,
    initialClusterState: ETCD_INITIAL_CLUSTER_STATE,
    immutable: isSealed(record.state),
  };
}

export const followVolumes: EffectsOf<'follow-volumes'> = ({ peers }) => wave(...peers.map(followVolume));

/** Made where there is none; what is sealed is never unsealed. */
export function followVolume(name: string): Effect {
  const make = makeConfigMap(name);
  const update = onSlot(name, (slot) => {
    const record = recordOf(slot);
    if (!record || !slot.configMap?.current) return slot;
    const { byPeer, ...configMap } = slot.configMap;
    if (configMap.immutable) return byPeer ? { ...slot, configMap } : slot;
    return { ...slot, configMap: { ...configMap, ...contentsFor(record, name) } };
  });
  const unmarked: Effect = (observation) => {
    const record = recordOf(slotOf(observation, name) ?? {});
    return record && record.state !== 'bootstrapping' ? unmark(name)(observation) : observation;
  };
  const follow: Effect = (observation) =>
    slotOf(observation, name)?.configMap ? update(observation) : make(observation);
  return (observation) => follow(unmarked(observation));
}

export const startMembers: EffectsOf<'start-members'> = ({ peers }, observation) => [
  ...wave(...peers.map((name) => noteStart(name, observation))),
  ...wave(...peers.map(makeStatefulSet)),
];

/** Written only where it says something new. */
function noteStart(name: string, observation: Observation): Effect | undefined {
  const slot = slotOf(observation, name);
  const record = slot && recordOf(slot);
  if (record && isUnstarted(record)) return noteFirstStart(name);
  return noteNextVersion(name, slot?.peer?.inputs.version, observation);
}

function makeStatefulSet(name: string): Effect {
  return create(
    name,
    'statefulSet',
    (fresh, { peer }) =>
      peer &&
      withTemplate({ ...fresh, current: true, inputsHash: inputsHash(peer.inputs), updateRevision: '' }, peer.inputs),
  );
}

/** The claim is made anew only when the old one has gone, which the action waits for. */
export const replaceUnboundVolume: EffectsOf<'replace-unbound-volume'> = ({ volume, storage }, observation) => {
  const { name, uid } = volume;
  const record = recordOf(slotOf(observation, name) ?? {});
  const isMeant = (slot: Slot) => slot.volume?.uid === uid && !slot.volume.bound;
  return oneByOne(
    onSlot(name, (slot) =>
      slot.peer
        ? { ...slot, peer: { ...slot.peer, inputs: { ...slot.peer.inputs, storage }, replacingVolume: uid } }
        : slot,
    ),
    (seen) => {
      const slot = slotOf(seen, name);
      return slot && isMeant(slot) ? without(seen, name, 'volume') : seen;
    },
    record && makeVolume(name, record, storage),
    noteFirstStart(name),
    unmark(name),
  );
};

function unmark(name: string): Effect {
  return onSlot(name, (slot) => {
    if (slot.peer?.replacingVolume === undefined) return slot;
    const { replacingVolume: _, ...peer } = slot.peer;
    return { ...slot, peer };
  });
}
