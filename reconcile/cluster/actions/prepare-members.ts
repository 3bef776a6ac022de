import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { Storage } from '../../../manifests/api/member-settings.ts';
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
import { type ActContext, createOurs, type LiveVolume, liveVolume } from './context.ts';
import { noteFirstStart } from './first-start.ts';
import { notOurs } from './follow-volumes.ts';
import { isSealedDisk } from './live-disk.ts';
import { unmark } from './replacing-mark.ts';
import { restore } from './restore-labels.ts';

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

  const volumes = await Promise.all(
    members.map(async ({ wanted, record }) => ({ wanted, volume: await makeVolume(wanted, record, context) })),
  );
  const prepared = await Promise.all(
    volumes.map(async ({ wanted, volume: { storage, ...volume } }) => ({
      volume,
      peer: await makePeer({ ...wanted, spec: { ...wanted.spec, ...(storage && { storage }) } }, context),
    })),
  );
  await Promise.all(prepared.map(({ peer, volume }) => makeConfigMap(peer, volume, context)));
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

/**
 * @returns what the volume remembers; and for one that was there already and was never bound, how it was asked for, which may
 * be otherwise than the spec asks now: its peer says so, and the volume is made anew.
 */
async function makeVolume(
  wanted: EtcdPeer,
  record: VolumeRecord,
  context: ActContext,
): Promise<LiveVolume & { readonly storage?: Storage }> {
  const { object: found, existed } = await createOurs<PersistentVolumeClaim>(
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
  if (read.record.state === 'released' || read.record.state === 'superseded') {
    // Kept, and without its labels it was not seen. With a peer beside it, it would be deleted as what that member had.
    const { name, uid = '' } = found.metadata;
    await restore({ of: 'volume', name, uid }, context);
    throw moved(`volume ${name} is that of a member that left, and stays: another name is taken`);
  }
  const { volumeName, storageClassName, resources: wishes } = found.spec;
  const size = wishes.requests?.storage;
  const volume = { claim: found, record: read.record };
  if (!existed || volumeName || size === undefined) return volume;
  return { ...volume, storage: { size, ...(storageClassName !== undefined && { storageClassName }) } };
}

async function makePeer(wanted: EtcdPeer, context: ActContext): Promise<EtcdPeer> {
  const { cluster } = context;
  const { object: peer } = await createOurs<EtcdPeer>(context, resources.peers, wanted, (found) =>
    isControlledBy(found, cluster.metadata.uid ?? ''),
  );
  if (peer.metadata.annotations?.[replacingVolume] === undefined) return peer;
  // The pod that waits for the volume that was made anew may be there already.
  await noteFirstStart(await liveVolume(context, peer.metadata.name), context);
  return unmark(peer, context);
}

/** Not for a sealed member's claim that has another disk: without it nothing starts there. */
async function makeConfigMap(peer: EtcdPeer, volume: LiveVolume, context: ActContext): Promise<void> {
  const { claim, record } = volume;
  if (!(await isSealedDisk(volume, context))) return;
  await createOurs<ConfigMap>(context, resources.configMaps, configMap(peer, record, claim), (found) => {
    if ([claim, peer].some(({ metadata }) => isControlledBy(found, metadata.uid ?? ''))) return true;
    throw notOurs(found);
  });
}
