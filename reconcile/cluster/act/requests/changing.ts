import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { Storage } from '../../../../manifests/api/member-settings.ts';
import type { ConfigMap, PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { configMap } from '../../../../manifests/render/config-map.ts';
import { claimReference } from '../../../../manifests/render/owner-reference.ts';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { KubeError, resources } from '../../../interfaces/kube.ts';
import { withCure } from '../../../reasons/cure.ts';
import { conflict } from '../../../requests/refusals.ts';
import { replacingVolume } from '../../know/marks.ts';
import type { PeerView } from '../../know/observation.ts';
import { needsPerson } from '../../know/outcome.ts';
import { peerView } from '../../observe/slots.ts';
import { writeBack } from './live.ts';
import { contentsFor } from './making.ts';
import { asWritten, type Read } from './objects.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** Changes of what members are made of. Each is refused when its object was written to since it was read. */

/** The mark of an unbound volume that is about to be made anew, which may be of another size from now on. */
export const markReplacing = defineRequest('markReplacing', {
  words: ({ readAt: { name } }: { readonly readAt: ReadAt; readonly uid: string; readonly storage: Storage }) =>
    `marks peer ${name}: its unbound volume is made anew`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'peer', name }),
  live: async ({ readAt, uid, storage }, live): Promise<Read<PeerView>> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const annotations = { ...peer.metadata.annotations, [replacingVolume]: uid };
    const marked = { ...peer, metadata: { ...peer.metadata, annotations }, spec: { ...peer.spec, storage } };
    const written = await writeBack<EtcdPeer>(live, resources.peers, marked);
    return { ...peerView(written, live.cluster.metadata.uid ?? ''), readAt: live.keep('peer', readAt.name, written) };
  },
  model: (state, { readAt, uid, storage }, host) => {
    const { name } = readAt;
    const peer = host.get(state, name, 'peer');
    if (!peer || !host.isCurrent(readAt)) throw changed('peer', name);
    const marked = { ...peer, inputs: { ...peer.inputs, storage }, replacingVolume: uid };
    return {
      state: host.put(state, name, 'peer', marked),
      answer: asWritten(marked, readAt),
    };
  },
});

/** The peer without that mark. */
export const unmarkReplacing = defineRequest('unmarkReplacing', {
  words: ({ readAt: { name } }: { readonly readAt: ReadAt }) => `removes the mark from peer ${name}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'peer', name }),
  live: async ({ readAt }, live): Promise<Read<PeerView>> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const { [replacingVolume]: _, ...annotations } = peer.metadata.annotations ?? {};
    const unmarked = { ...peer, metadata: { ...peer.metadata, annotations } };
    const written = await writeBack<EtcdPeer>(live, resources.peers, unmarked);
    return { ...peerView(written, live.cluster.metadata.uid ?? ''), readAt: live.keep('peer', readAt.name, written) };
  },
  model: (state, { readAt }, host) => {
    const { name } = readAt;
    const peer = host.get(state, name, 'peer');
    if (!peer || !host.isCurrent(readAt)) throw changed('peer', name);
    const { replacingVolume: _, ...unmarked } = peer;
    return {
      state: host.put(state, name, 'peer', unmarked),
      answer: asWritten(unmarked, readAt),
    };
  },
});

/**
 * The bootstrap ConfigMap says what its volume said when it was read, and goes with that PVC. One that is immutable is
 * only handed over: of an earlier release's, the peer was the owner.
 */
export const writeConfigMap = defineRequest('writeConfigMap', {
  words: ({ readAt: { name } }: ConfigMapFollows) => `makes ConfigMap ${name} match its volume`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'configMap', name }),
  live: async ({ readAt, peer, volume, record }, live): Promise<void> => {
    const found = live.kept<ConfigMap>(readAt);
    const claim = live.kept<PersistentVolumeClaim>(volume);
    const wanted = configMap(live.kept<EtcdPeer>(peer), record, claim);
    const metadata = { ...found.metadata, ownerReferences: [claimReference(claim)] };
    const content = found.immutable
      ? {}
      : { ...(wanted.data && { data: wanted.data }), ...(wanted.immutable && { immutable: true }) };
    const written = { ...found, ...content, metadata };
    await writeBack<ConfigMap>(live, resources.configMaps, written);
  },
  model: (state, { readAt, volumeUid, record }, host) => {
    const { name } = readAt;
    const found = host.get(state, name, 'configMap');
    if (!found || !host.isCurrent(readAt)) throw changed('ConfigMap', name);
    const { byPeer: _, ...rest } = found;
    const current = host.get(state, name, 'volume')?.uid === volumeUid;
    const written = { ...rest, current, ...(found.immutable ? {} : contentsFor(record, name)) };
    return { state: host.put(state, name, 'configMap', written), answer: undefined };
  },
});

interface ConfigMapFollows {
  readonly readAt: ReadAt;
  readonly peer: ReadAt;
  readonly volume: ReadAt;
  readonly volumeUid: string;
  readonly record: VolumeRecord;
}

/**
 * Asks the storage driver for a larger volume, which does that while the member runs. @throws {StepError}
 * `VolumeCannotGrow`.
 */
export const growVolume = defineRequest('growVolume', {
  words: ({ readAt: { name }, size }: { readonly readAt: ReadAt; readonly size: string }) =>
    `asks volume ${name} to grow to ${size}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'volume', name }),
  live: async ({ readAt, size }, live): Promise<void> => {
    const claim = live.kept<PersistentVolumeClaim>(readAt);
    const { resources: wishes, storageClassName } = claim.spec;
    const spec = { ...claim.spec, resources: { ...wishes, requests: { ...wishes.requests, storage: size } } };
    try {
      await writeBack<PersistentVolumeClaim>(live, resources.volumeClaims, { ...claim, spec });
    } catch (error) {
      if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
      throw needsPerson(
        'VolumeCannotGrow',
        withCure(
          `volume ${readAt.name} cannot grow to ${size}: its storage class does not allow it, or the API server refuses (${error.message})`,
          `set allowVolumeExpansion on StorageClass ${storageClassName}, raise the ResourceQuota, or set spec.storage.size back`,
        ),
      );
    }
  },
  model: (state, { readAt, size }, host) => {
    const found = host.get(state, readAt.name, 'volume');
    if (!found || !host.isCurrent(readAt)) throw changed('volume', readAt.name);
    return { state: host.put(state, readAt.name, 'volume', { ...found, size }), answer: undefined };
  },
});

function changed(kind: string, name: string): Error {
  return conflict(`${kind} ${name} has changed since it was read`);
}
