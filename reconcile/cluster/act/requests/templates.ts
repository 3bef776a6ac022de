import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { StatefulSet } from '../../../../manifests/kube-types.ts';
import { inputsHash } from '../../../../manifests/render/inputs-hash.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { resources } from '../../../interfaces/kube.ts';
import { conflict } from '../../../requests/refusals.ts';
import type { PeerView, SetDrift, StatefulSetView } from '../../know/observation.ts';
import { moved } from '../../know/outcome.ts';
import type { Inputs } from '../../know/spec/inputs.ts';
import { asOurs, driftOf } from '../../observe/own-set.ts';
import { peerView, statefulSetView } from '../../observe/slots.ts';
import type { Host } from './host.ts';
import { getOne, type Live, writeBack } from './live.ts';
import type { Read } from './objects.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** What a member's next pod is made from: its peer, and from that its StatefulSet. */

interface NewInputs {
  readonly readAt: ReadAt;
  readonly inputs: Inputs;
}

/** A dry run. @throws {KubeError} where the API server does not take the template: then every member stays as it is. */
export const tryTemplate = defineRequest('tryTemplate', {
  words: ({ readAt: { name } }: NewInputs) => `asks the API server whether it takes the new template of ${name}`,
  live: async ({ readAt, inputs }, live): Promise<void> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const found = await getOne<StatefulSet>(live, resources.statefulSets, readAt.name);
    if (!found || !isControlledBy(found, peer.metadata.uid ?? '')) return;
    const wanted = asOurs(found, withInputs(peer, inputs), await live.offered());
    await live.kube.dryRun(resources.statefulSets, wanted, { signal: live.signal });
  },
  model: (state) => ({ state, answer: undefined }),
});

/** The peer's spec holds all inputs of its member. */
export const writeInputs = defineRequest('writeInputs', {
  words: ({ readAt: { name } }: NewInputs) => `writes the new configuration on peer ${name}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'peer', name }),
  live: async ({ readAt, inputs }, live): Promise<Read<PeerView>> => {
    const wanted = withInputs(live.kept<EtcdPeer>(readAt), inputs);
    const written = await writeBack<EtcdPeer>(live, resources.peers, wanted);
    return {
      ...peerView(written, live.cluster.metadata.uid ?? ''),
      readAt: live.keep('peer', readAt.name, written),
    };
  },
  model: (state, { readAt, inputs }, host) => {
    const { name } = readAt;
    const found = host.get(state, name, 'peer');
    if (!found || !host.isCurrent(readAt)) throw conflict(`peer ${name} has changed since it was read`);
    const written = { ...found, inputs };
    return {
      state: host.put(state, name, 'peer', written),
      answer: { ...written, readAt: { ...readAt, at: 'current' } },
    };
  },
});

function withInputs(peer: EtcdPeer, inputs: Inputs): EtcdPeer {
  const { clusterName, ordinal, bootstrap } = peer.spec;
  return { ...peer, spec: { clusterName, ordinal, bootstrap, ...inputs } };
}

interface OfPeer {
  /** The peer as it was read, or written. */
  readonly readAt: ReadAt;
}

/**
 * The StatefulSet gets the template that its peer asks for, and its controller has seen it: a pod that is made before
 * that would get the old one. `undefined`: the peer has no StatefulSet.
 */
export const writeTemplate = defineRequest('writeTemplate', {
  words: ({ readAt: { name } }: OfPeer) => `writes the new template on StatefulSet ${name}`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'statefulSet', name }),
  live: async ({ readAt }, live): Promise<StatefulSetView | undefined> => {
    const peer = live.kept<EtcdPeer>(readAt);
    const { name, uid = '' } = peer.metadata;
    const found = await getOne<StatefulSet>(live, resources.statefulSets, name);
    if (!found || !isControlledBy(found, uid)) return undefined;
    const wanted = asOurs(found, peer, await live.offered());
    const updated = await writeBack<StatefulSet>(live, resources.statefulSets, wanted);
    return statefulSetView(await observed(updated, live), uid);
  },
  model: (state, { readAt: { name } }, host) => withTemplate(state, name, host),
});

function withTemplate<S>(state: S, name: string, host: Host<S>) {
  const peer = host.get(state, name, 'peer');
  const found = host.get(state, name, 'statefulSet');
  if (!peer || !found?.current) return { state, answer: undefined };
  const hash = inputsHash(peer.inputs);
  const { drift: _, oursAt: __, ...rest } = found;
  const written = { ...rest, inputs: peer.inputs, inputsHash: hash, updateRevision: hash };
  const after = host.put(state, name, 'statefulSet', written);
  return { state: after, answer: host.get(after, name, 'statefulSet') };
}

/** Bounded by the signal. */
async function observed(set: StatefulSet, live: Live): Promise<StatefulSet> {
  const { name, uid, generation = 0 } = set.metadata;
  for (let current = set; ; ) {
    if ((current.status?.observedGeneration ?? 0) >= generation) return current;
    await pause(50, undefined, { signal: live.signal });
    const again = await getOne<StatefulSet>(live, resources.statefulSets, name);
    if (!again || again.metadata.uid !== uid) throw moved(`StatefulSet ${name} has gone`);
    current = again;
  }
}

/**
 * Whether the StatefulSet is as we write it, at this moment: just before a pod ends, which its controller makes anew
 * from what is there.
 */
export const readDrift = defineRequest('readDrift', {
  words: ({ peer: { name } }: { readonly peer: ReadAt; readonly set: ReadAt }) =>
    `compares StatefulSet ${name} with what its peer asks for`,
  live: async ({ peer, set }, live): Promise<SetDrift | undefined> =>
    driftOf(live.kept<StatefulSet>(set), live.kept<EtcdPeer>(peer), live),
  model: (state, { peer: { name } }, host) => ({ state, answer: host.get(state, name, 'statefulSet')?.drift }),
});
