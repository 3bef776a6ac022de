import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { configMap } from '../../../manifests/build/config-map.ts';
import { ordinalOf } from '../../../manifests/build/names.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { etcdPeer } from '../../../manifests/build/peer.ts';
import { volumeClaim } from '../../../manifests/build/volume-claim.ts';
import { readVolumeRecord, type VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ConfigMap, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { replacingVolume } from '../marks.ts';
import { moved } from '../outcome.ts';
import { type ActContext, createOurs } from './context.ts';

/**
 * Records members before any of them starts: all volumes, then all peers, then all ConfigMaps.
 *
 * Guards I5. Every object is made by POST and is the same whoever makes it, so an invocation that was frozen half-way and
 * wakes after another took over can only find its work done.
 */
export async function prepareMembers(action: ActionOf<'prepare-members'>, context: ActContext): Promise<void> {
  const members = action.members.map(({ name, record }) => ({
    record,
    wanted: peerFor(name, record, action, context),
  }));

  const records = await Promise.all(members.map(({ wanted, record }) => makeVolume(wanted, record, context)));
  const peers = await Promise.all(members.map(({ wanted }) => makePeer(wanted, context)));
  await Promise.all(peers.map((peer, index) => makeConfigMap(peer, records[index] as VolumeRecord, context)));
}

function peerFor(
  name: string,
  record: VolumeRecord,
  { inputs }: ActionOf<'prepare-members'>,
  { cluster }: ActContext,
): EtcdPeer {
  const ordinal = ordinalOf(cluster.metadata.name, name);
  if (ordinal === undefined) throw moved(`${name} is not the name of a peer of ${cluster.metadata.name}`);
  const { token, initialCluster } = record;
  return etcdPeer(cluster, { ...cluster.spec, ...inputs }, ordinal, {
    token,
    initialCluster: [...initialCluster],
    state: record.state === 'joining' ? 'Existing' : 'New',
  });
}

async function makeVolume(wanted: EtcdPeer, record: VolumeRecord, context: ActContext): Promise<VolumeRecord> {
  const found = await createOurs<PersistentVolumeClaim>(
    context,
    resources.volumeClaims,
    volumeClaim(wanted, record),
    ({ metadata }) => {
      const read = readVolumeRecord(metadata.annotations);
      return read.kind === 'valid' && read.record.token === record.token && metadata.deletionTimestamp === undefined;
    },
  );
  const read = readVolumeRecord(found.metadata.annotations);
  if (read.kind !== 'valid') throw moved(`the annotations of volume ${found.metadata.name} have changed`);
  return read.record;
}

async function makePeer(wanted: EtcdPeer, context: ActContext): Promise<EtcdPeer> {
  const { kube, cluster, signal } = context;
  const peer = await createOurs<EtcdPeer>(context, resources.peers, wanted, (found) =>
    isControlledBy(found, cluster.metadata.uid ?? ''),
  );
  const { [replacingVolume]: mark, ...annotations } = peer.metadata.annotations ?? {};
  if (mark === undefined) return peer;
  return kube.update<EtcdPeer>(resources.peers, { ...peer, metadata: { ...peer.metadata, annotations } }, { signal });
}

async function makeConfigMap(peer: EtcdPeer, record: VolumeRecord, context: ActContext): Promise<void> {
  const uid = peer.metadata.uid ?? '';
  await createOurs<ConfigMap>(context, resources.configMaps, configMap(peer, record), (found) =>
    isControlledBy(found, uid),
  );
}
