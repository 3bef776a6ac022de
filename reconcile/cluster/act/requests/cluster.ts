import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { Service } from '../../../../manifests/kube-types.ts';
import { correctedExternal } from '../../../../manifests/render/external-service.ts';
import { labelsOf, peerLabels } from '../../../../manifests/render/names.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { inEachFamily } from '../../../../manifests/render/services.ts';
import { isReason, type KubeObject, type Resource, resources } from '../../../interfaces/kube.ts';
import { withCure } from '../../../reasons/cure.ts';
import type { LabelledRef, SharedObject } from '../../know/actions/birth.ts';
import { isListed } from '../../know/listed.ts';
import { type Finalizer, finalizers } from '../../know/marks.ts';
import { needsPerson } from '../../know/outcome.ts';
import { withoutOthers } from '../../know/spec/others-fields.ts';
import {
  hasSpec,
  type SharedFacts,
  type SharedKubeObject,
  type Specified,
  sharedKeys,
  sharedObject,
} from '../../know/spec/shared-objects.ts';
import { nameTaken } from '../actions/context.ts';
import { getOne, type Live, writeBack } from './live.ts';
import { defineRequest } from './request.ts';

/** Objects of the cluster as a whole; and labels. */

export const resourceOf = {
  'headless-service': resources.services,
  'client-service': resources.services,
  'disruption-budget': resources.disruptionBudgets,
  'network-policy': resources.networkPolicies,
  'no-network-policy': resources.networkPolicies,
  'external-service': resources.services,
  'no-external-service': resources.services,
  revocations: resources.configMaps,
  'no-revocations': resources.configMaps,
} as const satisfies Record<SharedObject, Resource>;

interface SharedWish extends SharedFacts {
  readonly object: SharedObject;
}

/** Makes it what it should be, or removes it where none should be. @throws {StepError} `NameTaken`. */
export const applySharedObject = defineRequest('applySharedObject', {
  words: (wish: SharedWish) => `${isNeeded(wish) ? 'applies' : 'removes'} the ${wish.object}`,
  writes: ({ object }) => ({ fence: 'version', object: sharedKeys[object] }),
  live: async (wish, live): Promise<void> => {
    const { kube, cluster, signal } = live;
    const resource = resourceOf[wish.object];
    const wanted = sharedObject(wish.object, cluster, wish);
    const { namespace, name } = wanted.metadata;
    const read = async () => {
      const found = await getOne<SharedKubeObject>(live, resource, name);
      if (found && !isControlledBy(found, cluster.metadata.uid ?? '')) throw nameTaken(resource, name);
      return found;
    };
    const found = await read();
    if (found && isNeeded(wish) && !isImmutable(found))
      return mergeInto(found, wanted, { live, resource, readAgain: read, merge: mergeFor(wish.object) });
    if (found?.metadata.uid)
      await kube.delete(resource, namespace, name, { preconditions: { uid: found.metadata.uid }, signal });
    if (!isNeeded(wish)) return;
    try {
      await kube.create(resource, isService(wanted) ? inEachFamily(wanted) : wanted, { signal });
    } catch (error) {
      if (isReason(error, 'AlreadyExists')) throw nameTaken(resource, name);
      throw error;
    }
  },
  model: (state, wish, host) => {
    const [key, resource] = [sharedKeys[wish.object], resourceOf[wish.object]];
    const { state: found } = host.shared(state, key);
    if (found === 'foreign' || found === 'leftover') throw nameTaken(resource, wish.object);
    const { minAvailable, leftOut = [] } = wish;
    const view = isNeeded(wish)
      ? {
          state: 'present' as const,
          ...(wish.object === 'disruption-budget' && { minAvailable }),
          ...(wish.object === 'revocations' && leftOut.length > 0 && { leftOut }),
        }
      : { state: 'missing' as const };
    return { state: host.putShared(state, key, view), answer: undefined };
  },
});

/** A shared object that is not needed is deleted. */
function isNeeded({ object, minAvailable }: SharedWish): boolean {
  if (object === 'no-network-policy' || object === 'no-external-service' || object === 'no-revocations') return false;
  return object !== 'disruption-budget' || minAvailable > 0;
}

/** It is made anew. Its files stay meanwhile: kubelet takes nothing from a pod that runs. */
function isImmutable(found: SharedKubeObject): boolean {
  return !hasSpec(found) && found.immutable === true;
}

function isService(wanted: SharedKubeObject): wanted is Service {
  return wanted.kind === 'Service';
}

interface Merging<T> {
  readonly live: Live;
  readonly resource: Resource;
  readonly readAgain: () => Promise<T | undefined>;
  readonly merge: (found: T, wanted: T) => T;
}

/** Of a Service for clients outside, what the spec gave it before goes with the spec. */
function mergeFor(object: SharedObject): Merging<SharedKubeObject>['merge'] {
  return (found, wanted) => {
    if (!hasSpec(found) || !hasSpec(wanted)) return { ...found, ...wanted, metadata: metadataFrom(found, wanted) };
    const ours = { ...found, spec: withoutOthers(found, wanted) } as typeof found;
    return object === 'external-service' && isService(ours) && isService(wanted)
      ? correctedExternal(ours, wanted)
      : merged(ours, wanted);
  };
}

/** How often a PUT that met a controller's write is repeated: it writes once for each change of a pod. */
const repeats = 3;

/**
 * The spec is ours alone, but each write moves the resourceVersion: the disruption controller writes the status of a
 * budget whenever one of its pods changes, as in the very step that removed a member.
 */
async function mergeInto<T extends SharedKubeObject>(
  found: T,
  wanted: T,
  { live, resource, readAgain, merge }: Merging<T>,
): Promise<void> {
  let latest = found;
  for (let repeat = 0; ; repeat++) {
    try {
      await writeBack(live, resource, merge(latest, wanted));
      return;
    } catch (error) {
      const again = isReason(error, 'Conflict') && repeat < repeats ? await readAgain() : undefined;
      if (!again || again.metadata.uid !== found.metadata.uid) throw error;
      latest = again;
    }
  }
}

/**
 * Our fields win; an allocated address, or a label of another owner, stays. In a network policy nothing of others does:
 * what was added would open or close something.
 */
function merged<T extends Specified>(found: T, wanted: T): T {
  return {
    ...found,
    metadata: metadataFrom(found, wanted),
    spec: wanted.kind === 'NetworkPolicy' ? wanted.spec : { ...found.spec, ...wanted.spec },
  };
}

function metadataFrom({ metadata }: KubeObject, wanted: KubeObject): KubeObject['metadata'] {
  return {
    ...metadata,
    labels: { ...metadata.labels, ...wanted.metadata.labels },
    annotations: { ...metadata.annotations, ...wanted.metadata.annotations },
  };
}

interface FinalizerWish {
  readonly present: boolean;
  readonly finalizer: Finalizer;
}

/** With the resourceVersion that the step was written with: nothing happened since. */
export const setClusterFinalizer = defineRequest('setClusterFinalizer', {
  words: ({ present, finalizer }: FinalizerWish) =>
    `${present ? 'sets' : 'removes'} the finalizer ${finalizers[finalizer]}`,
  writes: () => ({ fence: 'cluster' }),
  live: async ({ present, finalizer }, live): Promise<void> => {
    const { cluster } = live;
    const ours = finalizers[finalizer];
    const others = (cluster.metadata.finalizers ?? []).filter((one) => one !== ours);
    const metadata = { ...cluster.metadata, finalizers: present ? [...others, ours] : others };
    await writeBack<EtcdCluster>(live, resources.clusters, { ...cluster, metadata });
  },
  model: (state, { present, finalizer }, host) => ({
    state: host.finalizer(state, finalizer, present),
    answer: undefined,
  }),
});

const labelled = {
  peer: resources.peers,
  volume: resources.volumeClaims,
  configMap: resources.configMaps,
  statefulSet: resources.statefulSets,
} as const satisfies Record<LabelledRef['of'], Resource>;

/**
 * Our labels come back on the one object that was judged ours, by its UID, and only over exactly what was read; those
 * of others stay.
 *
 * @throws {StepError} `LabelsRefused` when they are gone again in the answer: an admission policy takes them off.
 */
export const restoreLabelsOf = defineRequest('restoreLabelsOf', {
  words: ({ of, name }: LabelledRef) => `restores our labels on ${of} ${name}`,
  writes: ({ of, name }) => ({ fence: 'version', object: of, name }),
  live: async ({ of, name, uid }, live): Promise<void> => {
    const resource = labelled[of];
    const clusterName = live.cluster.metadata.name;
    const found = await getOne<KubeObject>(live, resource, name);
    if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined) return;
    if (isListed(found, clusterName)) return;
    const labels = { ...found.metadata.labels, ...labelsOf(clusterName), ...peerLabels(clusterName, name) };
    const metadata = { ...found.metadata, labels };
    const written = await writeBack<KubeObject>(live, resource, { ...found, metadata });
    if (isListed(written, clusterName)) return;
    throw needsPerson(
      'LabelsRefused',
      withCure(
        `the labels of ${resource.kind} ${name} are taken off again as soon as they are set, so an admission policy does it`,
        `exempt the objects of EtcdCluster ${clusterName} from that policy`,
      ),
    );
  },
  model: (state, ref, host) => ({ state: host.labelled(state, ref), answer: undefined }),
});
