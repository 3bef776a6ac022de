import { createHash } from 'node:crypto';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import { mayBeSkipped } from './at-rest.ts';
import { done } from './know/decision.ts';
import type { MovingObjects } from './observe/snapshot.ts';
import type { ClusterResult } from './result.ts';

/**
 * Whether the member with this pod address says of itself that it is well: its quorum answers, and no alarm is raised.
 * Anything else, silence included, is `false`; never throws.
 */
export type AskHealth = (address: string, signal: AbortSignal) => Promise<boolean>;

/**
 * A digest of what the lists hold of a cluster, its status apart: equal digests are equal objects, because the API
 * server gives each change a resourceVersion of its own.
 */
export function digestOf({ cluster, pods, volumeClaims, statefulSets }: MovingObjects): string {
  const { uid, generation, labels, annotations, deletionTimestamp, finalizers } = cluster.metadata;
  const own = [uid, generation, sorted(labels), sorted(annotations), deletionTimestamp, finalizers];
  const others = [...pods, ...volumeClaims, ...statefulSets].map(versionOf).toSorted();
  return createHash('sha256')
    .update(JSON.stringify([own, others]))
    .digest('hex');
}

function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid}/${metadata.resourceVersion}`;
}

function sorted(entries: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] {
  return Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The look that goes no further: the last full look found nothing to do, the lists hold what they held then, and every
 * member says that it is well. It writes nothing, and nothing is done on it. `undefined`: a full look is due.
 */
export async function skippedLook(
  objects: MovingObjects,
  now: Date,
  { health, signal }: { readonly health: AskHealth; readonly signal: AbortSignal },
): Promise<ClusterResult | undefined> {
  const { cluster } = objects;
  if (!mayBeSkipped(cluster, now) || cluster.status?.fullLook?.seen !== digestOf(objects)) return undefined;
  const addresses = addressesOf(objects);
  if (addresses === undefined) return undefined;
  const answers = await Promise.all(addresses.map((address) => health(address, signal)));
  return answers.every(Boolean) ? asBefore(cluster) : undefined;
}

/** Where its members answer. `undefined`: of one there is no pod that runs, or it was not well. */
function addressesOf({ cluster, pods }: MovingObjects): readonly string[] | undefined {
  const { members = [] } = cluster.status ?? {};
  const addresses = members.flatMap(({ name, healthy }) => {
    const pod = pods.find(({ metadata }) => metadata.name === `${name}-0`);
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
