import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  StatefulSet,
} from '../../../manifests/kube-types.ts';
import { certificateResource } from '../../../manifests/render/cert-manager-certificate.ts';
import { certificateRequestResource } from '../../../manifests/render/cert-manager-request.ts';
import { hashOf } from '../../../manifests/render/inputs-hash.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { warnOf } from './events.ts';
import { claimOf, drop, put, type State } from './state.ts';

/** Kubernetes' own controllers, each taking one small step, so that a test can look at the world between any two. */

export const grace = 'world/grace';
const protection = 'kubernetes.io/pvc-protection';

const owned = [
  resources.peers,
  resources.configMaps,
  resources.secrets,
  certificateResource,
  certificateRequestResource,
  resources.statefulSets,
  resources.jobs,
  resources.pods,
  resources.services,
  resources.disruptionBudgets,
  resources.networkPolicies,
] as const;

/** Whatever lost all its owners goes: at once, or when its finalizers let it. One level a round. */
export function collectGarbage(state: State): void {
  const children = owned.flatMap((resource) => state.kube.stored(resource).map((object) => ({ resource, object })));
  const claims = state.kube.stored(resources.volumeClaims);
  const above = [resources.clusters, resources.backups, resources.schedules].flatMap((one) => state.kube.stored(one));
  const owners = [...above, ...claims, ...children.map(({ object }) => object)];
  const alive = new Set(owners.map(({ metadata }) => metadata.uid));
  for (const { resource, object } of children) {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length > 0 && references.every(({ uid }) => !alive.has(uid))) leave(state, resource, object);
  }
}

function leave(state: State, resource: Resource, object: KubeObject): void {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (finalizers.length === 0) drop(state, resource, object);
  else if (deletionTimestamp === undefined) {
    const metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    put(state, resource, object, { ...object, metadata });
  }
}

/**
 * Makes a pod where there is none and one is asked for, ends one that is too many, or that `RollingUpdate` is to make
 * anew; and says in the next round what it saw in this one.
 */
export function runStatefulSets(state: State): void {
  const { kube } = state;
  const pods = kube.stored<Pod>(resources.pods);
  for (const set of kube.stored<StatefulSet>(resources.statefulSets)) {
    const { namespace, name, uid = '', generation = 1, deletionTimestamp } = set.metadata;
    if (deletionTimestamp !== undefined) continue;
    const updateRevision = revisionOf(set);
    const pod = pods.find(({ metadata }) => metadata.name === `${name}-0` && metadata.namespace === namespace);
    const { replicas = 1, updateStrategy }: Partial<StatefulSet['spec']> = set.spec;
    const isOld = pod?.metadata.labels?.['controller-revision-hash'] !== updateRevision;
    if (!pod && replicas > 0) makePod(state, set, podFor(set, updateRevision, uid));
    else if (pod && (replicas === 0 || (updateStrategy?.type === 'RollingUpdate' && isOld)))
      leave(state, resources.pods, pod);
    else
      put(state, resources.statefulSets, set, {
        ...set,
        status: { observedGeneration: generation, updateRevision, replicas: 1 },
      });
  }
}

const hashes = new WeakMap<object, string>();

/** A template is frozen: its hash, which is asked for in every round, stays the same. */
function revisionOf({ metadata, spec: { template } }: StatefulSet): string {
  const hash = hashes.get(template) ?? hashOf(template);
  hashes.set(template, hash);
  return `${metadata.name}-${hash.slice(0, 10)}`;
}

function makePod(state: State, set: StatefulSet, pod: Pod): void {
  if (state.heldUp.by(pod) === 'FailedCreate') {
    const words = `create Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} failed error: exceeded quota: small`;
    warnOf(state, 'StatefulSet', set, 'FailedCreate', words);
  } else put(state, resources.pods, undefined, pod);
}

function podFor({ metadata, spec }: StatefulSet, revision: string, uid: string): Pod {
  return {
    metadata: {
      name: `${metadata.name}-0`,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: { ...spec.template.metadata.labels, 'controller-revision-hash': revision },
      ...(spec.template.metadata.annotations && { annotations: spec.template.metadata.annotations }),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: metadata.name, uid, controller: true }],
      finalizers: [grace],
    },
    spec: spec.template.spec,
    status: { phase: 'Pending' },
  };
}

/** Says how many pods a budget can do without right now. */
export function countDisruptions(state: State): void {
  const { kube } = state;
  const pods = kube.stored<Pod>(resources.pods);
  for (const budget of kube.stored<PodDisruptionBudget>(resources.disruptionBudgets)) {
    const wanted = Object.entries(budget.spec.selector?.matchLabels ?? {});
    const ready = pods.filter(
      ({ metadata, status }) =>
        metadata.namespace === budget.metadata.namespace &&
        metadata.deletionTimestamp === undefined &&
        wanted.every(([key, value]) => metadata.labels?.[key] === value) &&
        status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    ).length;
    const disruptionsAllowed = Math.max(0, ready - Number(budget.spec.minAvailable ?? 0));
    put(state, resources.disruptionBudgets, budget, {
      ...budget,
      status: { disruptionsAllowed },
    } as PodDisruptionBudget);
  }
}

/** A PVC is protected from the moment it is made, as admission does it. */
export function protect(state: State): void {
  const { kube } = state;
  for (const claim of kube.stored<PersistentVolumeClaim>(resources.volumeClaims)) {
    const { finalizers = [], deletionTimestamp } = claim.metadata;
    if (deletionTimestamp !== undefined || finalizers.includes(protection)) continue;
    put(state, resources.volumeClaims, claim, {
      ...claim,
      metadata: { ...claim.metadata, finalizers: [...finalizers, protection] },
    });
  }
}

export function bindVolumes(state: State): void {
  const { kube, classes } = state;
  const claims = kube.stored<PersistentVolumeClaim>(resources.volumeClaims);
  const wanted = new Set(
    kube
      .stored<Pod>(resources.pods)
      .filter(state.room.for)
      .map((pod) => claimOf(pod, claims)?.metadata.uid),
  );
  for (const claim of claims) {
    const { uid = '', deletionTimestamp } = claim.metadata;
    const storageClass = classes.get(claim.spec.storageClassName ?? '');
    if (deletionTimestamp !== undefined || claim.spec.volumeName || !storageClass) continue;
    if (storageClass.binding === 'WaitForFirstConsumer' && !wanted.has(uid)) continue;
    const spec = { ...claim.spec, volumeName: `pv-${uid}` };
    const metadata = { name: spec.volumeName, creationTimestamp: new Date(state.clock()).toISOString() };
    kube.seed<PersistentVolume>(resources.persistentVolumes, { metadata, spec: {} });
    put(state, resources.volumeClaims, claim, { ...claim, spec, status: { phase: 'Bound' as const } });
  }
}

/**
 * PVCs that are deleted go when no pod that has a node uses them (as pvc-protection does it), and their disks with
 * them.
 */
export function dropVolumes(state: State): void {
  const { kube, disks } = state;
  const claims = kube.stored<PersistentVolumeClaim>(resources.volumeClaims);
  const used = kube
    .stored<Pod>(resources.pods)
    .filter(({ spec }) => spec.nodeName !== undefined)
    .map((pod) => claimOf(pod, claims)?.metadata.uid);
  for (const claim of claims) {
    const { metadata } = claim;
    if (metadata.deletionTimestamp === undefined || used.includes(metadata.uid)) continue;
    drop(state, resources.volumeClaims, claim);
    if (claim.spec.volumeName) kube.remove(resources.persistentVolumes, undefined, claim.spec.volumeName);
    disks.delete(metadata.uid ?? '');
  }
}

export function schedule(state: State): void {
  const { kube } = state;
  const claims = kube.stored<PersistentVolumeClaim>(resources.volumeClaims);
  for (const pod of kube.stored<Pod>(resources.pods)) {
    if (pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const claim = claimOf(pod, claims);
    const ready = state.room.for(pod) && claim?.spec.volumeName && claim.metadata.deletionTimestamp === undefined;
    const condition = ready
      ? { type: 'PodScheduled', status: 'True', lastTransitionTime: new Date(state.clock()).toISOString() }
      : { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
    put(state, resources.pods, pod, {
      ...pod,
      spec: { ...pod.spec, ...(ready && { nodeName: state.room.home(pod) }) },
      status: { phase: 'Pending' as const, conditions: [condition] },
    });
  }
}
