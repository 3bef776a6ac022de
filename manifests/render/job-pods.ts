import type { EtcdClusterSpec } from '../api/etcd-cluster.ts';
import type { JobPods } from '../api/job-pods.ts';
import type { PodTemplate } from '../api/member-settings.ts';
import { isRecord } from '../json.ts';
import type { PodSpec, PodTemplateSpec } from '../kube-types.ts';
import { mergePodSpec } from './pod-template-merge.ts';
import { privilegesIn } from './privileges.ts';

/** Pods of Jobs run where their cluster's members run, and are let in by whatever lets those in. */

/**
 * A sidecar that a mesh injects keeps a Job's pod from ending. As the meshes document it: Istio and Kuma by a label,
 * Linkerd and Consul by an annotation.
 */
const outOfMeshes = {
  labels: { 'sidecar.istio.io/inject': 'false', 'kuma.io/sidecar-injection': 'disabled' },
  annotations: { 'linkerd.io/inject': 'disabled', 'consul.hashicorp.com/connect-inject': 'false' },
} as const;

type Metadata = PodTemplateSpec['metadata'];

/** As they are when what is left open was filled in. */
export interface JobPodSettings extends Omit<JobPods, 'spec'> {
  readonly spec?: JobPods['spec'] & Pick<PodSpec, 'imagePullSecrets'>;
}

/**
 * @param own labels by which the pod is found: they win
 * @param given what an author says of the Job's own pods
 * @param ofMembers what the members' pods have: a word of a mesh about these says nothing of Jobs
 */
export function jobMetadata(
  own: Metadata['labels'],
  given: JobPods['metadata'] = {},
  ofMembers: JobPods['metadata'] = {},
): Metadata {
  return {
    labels: { ...ofMembers.labels, ...outOfMeshes.labels, ...given.labels, ...own },
    annotations: { ...ofMembers.annotations, ...outOfMeshes.annotations, ...given.annotations },
  };
}

/** Of members' pods: what says where a pod may run, and nothing of what runs in it or spreads members. */
const ofMembers = ['nodeSelector', 'tolerations', 'runtimeClassName', 'schedulerName', 'imagePullSecrets'] as const;

/**
 * The settings of a backup's pods: its own, and what they leave open as the members have it. Of these neither labels
 * nor annotations: a Service that selects members by one would lead clients to the Job's pod, and what is injected into
 * members by the other would keep it from ending.
 */
export function jobPodsOf(
  given: JobPods = {},
  cluster?: Pick<EtcdClusterSpec, 'image' | 'podTemplate'>,
): JobPodSettings {
  const podTemplate = taken(cluster?.podTemplate);
  const members = podTemplate.spec ?? {};
  const { nodeAffinity } = isRecord(members.affinity) ? members.affinity : {};
  const { pullSecrets } = cluster?.image ?? {};
  const inherited = mergePodSpec(pullSecrets ? { imagePullSecrets: pullSecrets } : {}, {
    ...Object.fromEntries(ofMembers.flatMap((field) => (members[field] ? [[field, members[field]]] : []))),
    ...(isRecord(nodeAffinity) && { affinity: { nodeAffinity } }),
  });
  const { nodeSelector, affinity, ...others } = given.spec ?? {};
  const spec = {
    ...mergePodSpec(inherited, others),
    ...(nodeSelector && { nodeSelector }),
    ...(affinity && { affinity }),
  };
  return {
    ...(given.metadata && { metadata: given.metadata }),
    spec: spec as NonNullable<JobPodSettings['spec']>,
    users: given.users ?? (leavesUsers(podTemplate) ? 'OfPlatform' : 'Ours'),
  };
}

/** @param spec of our own */
export function placedPod(spec: PodSpec, { spec: given = {}, users }: JobPodSettings = {}): PodSpec {
  const placed = mergePodSpec(spec, given) as unknown as PodSpec;
  const { runAsUser: _, runAsGroup: __, fsGroup: ___, ...assigned } = spec.securityContext ?? {};
  return users === 'OfPlatform' ? { ...placed, securityContext: assigned } : placed;
}

/** A template that lends our privileges is no member's either. */
function taken(template: PodTemplate | undefined): PodTemplate {
  return template && privilegesIn(template).length === 0 ? template : {};
}

function leavesUsers({ spec = {} }: PodTemplate): boolean {
  return isRecord(spec.securityContext) && spec.securityContext.runAsUser === null;
}
