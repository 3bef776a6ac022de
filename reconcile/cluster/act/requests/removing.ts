import { setTimeout as pause } from 'node:timers/promises';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { podName } from '../../../../manifests/render/names.ts';
import { type Resource, resources } from '../../../interfaces/kube.ts';
import { conflict } from '../../../requests/refusals.ts';
import type { Ref } from '../../know/ref.ts';
import type { Host } from './host.ts';
import { getOne, type Live } from './live.ts';
import { defineRequest } from './request.ts';

/**
 * Deletions of these very objects, whatever was written to them since. What is gone already is no error; a namesake is,
 * and stays.
 */

/** With what it owns, by the owner references. */
export const deletePeer = defineRequest('deletePeer', {
  words: ({ name }: Ref) => `deletes peer ${name}`,
  writes: ({ name }) => ({ fence: 'uid', object: 'peer', name }),
  live: (ref, live): Promise<void> => deleteOne(resources.peers, ref, live, 'Background'),
  model: (state, ref, host) => without(state, ref, 'peer', host),
});

/** With its pod. */
export const deleteStatefulSet = defineRequest('deleteStatefulSet', {
  words: ({ name }: Ref) => `deletes StatefulSet ${name}`,
  writes: ({ name }) => ({ fence: 'uid', object: 'statefulSet', name }),
  live: (ref, live): Promise<void> => deleteOne(resources.statefulSets, ref, live, 'Background'),
  model: (state, ref, host) => without(state, ref, 'statefulSet', host),
});

export const deleteConfigMap = defineRequest('deleteConfigMap', {
  words: ({ name }: Ref) => `deletes ConfigMap ${name}`,
  writes: ({ name }) => ({ fence: 'uid', object: 'configMap', name }),
  live: (ref, live): Promise<void> => deleteOne(resources.configMaps, ref, live),
  model: (state, ref, host) => without(state, ref, 'configMap', host),
});

/** Of the member of that name. */
export const deletePodOf = defineRequest('deletePodOf', {
  words: ({ name }: Ref) => `deletes the pod of ${name}`,
  writes: ({ name }) => ({ fence: 'uid', object: 'pod', name }),
  live: ({ name, uid }, live): Promise<void> => deleteOne(resources.pods, { name: podName(name), uid }, live),
  model: (state, { name, uid }, host) => {
    const found = host.pod(state, name);
    if (found && found.uid !== uid) throw namesake(name);
    return { state: found && !found.leaving ? host.remove(state, name, 'pod') : state, answer: undefined };
  },
});

async function deleteOne(
  resource: Resource,
  { name, uid }: Ref,
  { kube, cluster, signal }: Live,
  propagation?: 'Background',
): Promise<void> {
  await kube.delete(resource, cluster.metadata.namespace, name, {
    preconditions: { uid },
    ...(propagation && { propagation }),
    signal,
  });
}

function without<S>(state: S, { name, uid }: Ref, kind: 'peer' | 'statefulSet' | 'configMap', host: Host<S>) {
  const found = host.get(state, name, kind);
  if (found && found.uid !== uid) throw namesake(name);
  return { state: found ? host.remove(state, name, kind) : state, answer: undefined };
}

function namesake(name: string): Error {
  return conflict(`there is another ${name} by now`);
}

/** A PVC that a pod waits for stays Terminating until the pod lets go. Bounded by the signal. */
export const awaitVolumeGone = defineRequest('awaitVolumeGone', {
  words: ({ name }: Ref) => `waits until volume ${name} has gone`,
  live: async ({ name, uid }, live): Promise<void> => {
    for (;;) {
      const found = await getOne<PersistentVolumeClaim>(live, resources.volumeClaims, name);
      if (found?.metadata.uid !== uid) return;
      await pause(100, undefined, { signal: live.signal });
    }
  },
  model: (state, { name, uid }, host) =>
    host.get(state, name, 'volume')?.uid === uid ? 'wait' : { state, answer: undefined },
});
