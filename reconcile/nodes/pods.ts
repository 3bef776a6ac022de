import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Job, Pod } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { isCompleted, isOver } from '../jobs/job-end.ts';
import type { JobSeen, PodSeen } from './observation.ts';

interface Around {
  readonly policy: EtcdNodePolicy;
  readonly clusters: readonly EtcdCluster[];
  /** Namespaces whose clusters can't be seen. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
  readonly holder: { readonly uid: string };
  readonly rebootsIn: string;
}

const mirror = 'kubernetes.io/config.mirror';

/** The pods of one node that have not ended, and what each of them is to a drain. Pure. */
export function podsSeen(pods: readonly Pod[], around: Around): readonly PodSeen[] {
  return pods.filter(isAlive).map((pod) => {
    const { namespace = '', name, uid = '', resourceVersion = '', deletionTimestamp } = pod.metadata;
    const cluster = clusterOf(pod, around.clusters);
    const kind = kindOf(pod, cluster, around);
    return {
      namespace,
      name,
      uid,
      resourceVersion,
      kind,
      leaving: deletionTimestamp !== undefined,
      ...(kind === 'member' && cluster !== undefined && { cluster }),
      blocks: isAtWork(pod) || blocks(pod, around.policy) || isUnseenMember(pod, around),
    };
  });
}

function isAlive({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function kindOf(pod: Pod, cluster: string | undefined, { holder, rebootsIn }: Around): PodSeen['kind'] {
  const { metadata } = pod;
  const controller = metadata.ownerReferences?.find((owner) => owner.controller);
  // A DaemonSet's controller tolerates a cordoned node, and would make its pod again at once.
  if (controller?.kind === 'DaemonSet' || metadata.annotations?.[mirror] !== undefined) return 'stays';
  // This invocation can't evict itself: the pass goes on in the next one, on another node.
  if (metadata.uid === holder.uid || metadata.namespace === rebootsIn) return 'stays';
  if (cluster !== undefined && controller?.kind === 'StatefulSet') return 'member';
  return controller ? 'managed' : 'unmanaged';
}

function clusterOf({ metadata }: Pod, clusters: readonly EtcdCluster[]): string | undefined {
  const found = metadata.labels;
  if (found?.[labels.managedBy] !== 'etcd-ratchet') return undefined;
  const isIt = ({ metadata: { namespace, name } }: EtcdCluster) =>
    namespace === metadata.namespace && name === found[labels.cluster];
  return clusters.some(isIt) ? `${metadata.namespace}/${found[labels.cluster]}` : undefined;
}

/** The quorum of its cluster is not known. */
function isUnseenMember({ metadata }: Pod, { leftOut }: Around): boolean {
  return leftOut.has(metadata.namespace ?? '') && metadata.labels?.[labels.managedBy] === 'etcd-ratchet';
}

const works: ReadonlySet<string | undefined> = new Set(['etcd-backup', 'etcd-restore', 'etcd-recovery']);

/** Of a Job that backs a cluster up or brings its data back: it is not cut off, it comes to its end. */
function isAtWork({ metadata }: Pod): boolean {
  const isJob = metadata.ownerReferences?.some(({ kind, controller }) => controller && kind === 'Job') ?? false;
  const found = metadata.labels ?? {};
  return isJob && found[labels.managedBy] === 'etcd-ratchet' && works.has(found[labels.name]);
}

function blocks({ metadata }: Pod, { spec }: EtcdNodePolicy): boolean {
  return (spec.blockedBy ?? []).some(({ namespace, labels: wanted }) => {
    const pairs = Object.entries(wanted);
    if (pairs.length === 0 || (namespace !== undefined && namespace !== metadata.namespace)) return false;
    return pairs.every(([key, value]) => metadata.labels?.[key] === value);
  });
}

export function jobSeen(job: Job): JobSeen {
  const state = isCompleted(job) ? 'done' : isOver(job) ? 'failed' : 'under-way';
  return { name: job.metadata.name, uid: job.metadata.uid ?? '', state };
}
