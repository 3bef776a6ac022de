import { createHash } from 'node:crypto';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { version } from '../../manifests/release.ts';
import { canonicalJson } from '../../manifests/render/canonical-json.ts';
import { podName } from '../../manifests/render/names.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import { done } from './know/decision.ts';
import type { MovingObjects } from './observe/snapshot.ts';
import type { ClusterResult } from './result.ts';
import type { AskHealth, StepContext } from './step-context.ts';

/**
 * A digest of what the lists hold of a cluster, its status apart: equal digests are equal objects, because the API
 * server gives each change a resourceVersion of its own. The release is part of it: a new one sees everything anew.
 */
export function digestOf(
  { cluster, pods, volumeClaims, statefulSets }: MovingObjects,
  { nameAllowances }: Pick<StepContext, 'nameAllowances'>,
): string {
  const { uid, generation, labels, annotations, deletionTimestamp, finalizers } = cluster.metadata;
  const own = { uid, generation, labels, annotations, deletionTimestamp, finalizers };
  const others = [...pods, ...volumeClaims, ...statefulSets].map(versionOf).toSorted();
  return createHash('sha256').update(canonicalJson({ version, nameAllowances, own, others })).digest('hex');
}

function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid}/${metadata.resourceVersion}`;
}

/**
 * The look that goes no further: the last full look found nothing to do, the lists hold what they held then, and every
 * member says that it is well. It writes nothing, and nothing is done on it. Anything else: a full look is due.
 */
export async function skippedLook(
  objects: MovingObjects,
  context: StepContext & { readonly health: AskHealth },
): Promise<ClusterResult | 'unheard' | undefined> {
  const { cluster } = objects;
  const { health, signal } = context;
  if (cluster.status?.fullLook?.seen !== digestOf(objects, context)) return undefined;
  const addresses = addressesOf(objects);
  if (addresses === undefined) return undefined;
  const answers = await Promise.all(addresses.map((address) => health(address, signal)));
  return answers.every(Boolean) ? asBefore(cluster) : 'unheard';
}

/** Where its members answer. `undefined`: of one there is no pod that runs, or it was not well. */
function addressesOf({ cluster, pods }: MovingObjects): readonly string[] | undefined {
  const { members = [] } = cluster.status ?? {};
  const addresses = members.flatMap(({ name, healthy }) => {
    const pod = pods.find(({ metadata }) => metadata.name === podName(name));
    const address = pod?.status?.podIP;
    return healthy && address && pod.metadata.deletionTimestamp === undefined ? [address] : [];
  });
  return members.length > 0 && addresses.length === members.length ? addresses : undefined;
}

/** What the full look said is true still. */
function asBefore(cluster: EtcdCluster): ClusterResult {
  const { namespace = '', name } = cluster.metadata;
  const decision = done('Converged', cluster.status?.lastDecision?.message ?? '');
  const { reason, message } = decision;
  const told = { namespace, name, decision, reason, message, cluster };
  return { ...told, outcome: 'none', workRemains: false, look: 'skipped' };
}
