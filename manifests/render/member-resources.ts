import type { EtcdClusterSpec } from '../api/etcd-cluster.ts';
import type { Container, PodSpec, ResourceRequirements } from '../kube-types.ts';
import { withRequests } from './member-defaults.ts';
import { etcdContainer } from './names.ts';
import { mergePodSpec } from './pod-template-merge.ts';

/**
 * What our containers beside members take, and those of their Jobs: exactly what etcd takes. A ResourceQuota or a
 * LimitRange that admits the members admits them as well.
 */
export function resourcesOf(
  containers: readonly Container[],
  ofPod: ResourceRequirements | undefined,
): ResourceRequirements {
  const etcd = containers.find(({ name }) => name === etcdContainer);
  const { requests, limits } = ofPod ?? etcd?.resources ?? {};
  return { ...(requests && { requests }), ...(limits && { limits }) };
}

/** The same of a cluster whose members are not at hand. */
export function memberResources({
  resources = {},
  podTemplate,
}: Pick<EtcdClusterSpec, 'resources' | 'podTemplate'>): ResourceRequirements {
  const etcd = { name: etcdContainer, resources };
  const merged = mergePodSpec({ containers: [etcd] }, podTemplate?.spec ?? {}) as unknown as PodSpec;
  const own = resourcesOf(merged.containers, merged.resources);
  return withRequests(own, merged.resources);
}
