import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { ConfigMap, StatefulSet } from '../../../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../../interfaces/kube.ts';
import type { Program } from '../../../requests/program.ts';
import type { ConfigMapView, PeerView, StatefulSetView } from '../../know/observation.ts';
import { moved } from '../../know/outcome.ts';
import { configMapView, peerView, statefulSetView } from '../../observe/slots.ts';
import { getOne, type Live } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** What a member is made of beside its volume and its pod: its peer, its bootstrap ConfigMap, its StatefulSet. */

/** An object as it was read: what an observation would say of it, and the version that a write of it carries. */
export type Read<View> = View & { readonly readAt: ReadAt };

interface Named {
  readonly name: string;
}

export const readPeer = defineRequest('readPeer', {
  words: ({ name }: Named) => `reads peer ${name}`,
  live: async ({ name }, live): Promise<Read<PeerView> | undefined> => {
    const found = await getOne<EtcdPeer>(live, resources.peers, name);
    return found && { ...peerView(found, live.cluster.metadata.uid ?? ''), readAt: live.keep('peer', name, found) };
  },
  model: (state, { name }, host) => ({ state, answer: asRead(host.get(state, name, 'peer'), 'peer', name) }),
});

/**
 * The peer of a member that is there to stay. @throws {StepError} when it is gone, or belongs to an earlier namesake.
 */
export function* livePeer(name: string): Program<Read<PeerView>> {
  const found = yield* readPeer({ name });
  if (!found?.current || found.leaving) throw moved(`peer ${name} has gone since it was looked at`);
  return found;
}

/** Of what another object controls: by the UID of that, which may have gone. */
export type Owned<View> = Read<Omit<View, 'current' | 'byPeer'>> & { readonly controller: string };

export const readConfigMap = defineRequest('readConfigMap', {
  words: ({ name }: Named) => `reads ConfigMap ${name}`,
  live: async ({ name }, live): Promise<Owned<ConfigMapView> | undefined> => {
    const found = await getOne<ConfigMap>(live, resources.configMaps, name);
    return found && configMapRead(found, live);
  },
  model: (state, { name }, host) => {
    const found = host.get(state, name, 'configMap');
    if (!found) return { state, answer: undefined };
    const { current, byPeer, ...view } = found;
    const owner = host.get(state, name, byPeer ? 'peer' : 'volume');
    const controller = current ? (owner?.uid ?? '') : '';
    const readAt: ReadAt = { object: 'configMap', name, at: 'current' };
    return { state, answer: { ...view, controller, readAt } };
  },
});

function configMapRead(found: ConfigMap, live: Live): Owned<ConfigMapView> {
  const { current: _, byPeer: __, ...view } = configMapView(found, '', '');
  const { name } = found.metadata;
  return { ...view, controller: controllerOf(found), readAt: live.keep('configMap', name, found) };
}

export const readStatefulSet = defineRequest('readStatefulSet', {
  words: ({ name }: Named) => `reads StatefulSet ${name}`,
  live: async ({ name }, live): Promise<Owned<StatefulSetView> | undefined> => {
    const found = await getOne<StatefulSet>(live, resources.statefulSets, name);
    if (!found) return undefined;
    const { current: _, ...view } = statefulSetView(found, '');
    return { ...view, controller: controllerOf(found), readAt: live.keep('statefulSet', name, found) };
  },
  model: (state, { name }, host) => {
    const found = host.get(state, name, 'statefulSet');
    if (!found) return { state, answer: undefined };
    const { current, uid, leaving, foreign, inputsHash, updateRevision } = found;
    const controller = current ? (host.get(state, name, 'peer')?.uid ?? '') : '';
    const readAt: ReadAt = { object: 'statefulSet', name, at: 'current' };
    return {
      state,
      answer: { uid, leaving, ...(foreign && { foreign }), inputsHash, updateRevision, controller, readAt },
    };
  },
});

function controllerOf({ metadata }: KubeObject): string {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
}

/** As a model answers a write: what stands there now. */
export function asWritten<V extends object>(view: V, readAt: ReadAt): Read<V> {
  return { ...view, readAt: { ...readAt, at: 'current' } };
}

function asRead<V extends object>(view: V | undefined, object: ReadAt['object'], name: string): Read<V> | undefined {
  return view && { ...view, readAt: { object, name, at: 'current' } };
}
