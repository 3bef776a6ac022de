import type { EtcdClusterSpec } from '../api/etcd-cluster.ts';
import { parseQuantity, type Quantity } from '../api/quantity.ts';
import type { Container, PodSpec, ResourceRequirements } from '../kube-types.ts';
import { withRequests } from './member-defaults.ts';
import { etcdContainer } from './names.ts';
import { mergePodSpec } from './pod-template-merge.ts';

/**
 * What our containers beside members take, and those of Jobs that run in the place of one: exactly what etcd takes. A
 * ResourceQuota or a LimitRange that admits the members admits them as well.
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

/** What our program takes where it runs beside members: nodes that are full of them need room for no other member. */
const enough = {
  memory: { value: 512 * 2 ** 20, written: (bytes: number) => `${Math.floor(bytes / 2 ** 20)}Mi` },
  cpu: { value: 1, written: (cores: number) => `${Math.floor(cores * 1000)}m` },
} as const;

/**
 * The same keys in the same ratio of request to limit, which a ResourceQuota and a LimitRange may demand, so small that
 * the larger of the two is enough for our program. Of other resources it takes what is no device.
 */
export function smallerResources({ requests = {}, limits = {} }: ResourceRequirements): ResourceRequirements {
  const scaled = (list: Readonly<Record<string, Quantity>>) =>
    Object.fromEntries(
      Object.entries(list).flatMap(([name, value]): [string, Quantity][] => {
        if (name !== 'memory' && name !== 'cpu') return name === 'ephemeral-storage' ? [[name, value]] : [];
        const share = enough[name].value / parseQuantity(limits[name] ?? requests[name] ?? value);
        return [[name, share < 1 ? enough[name].written(parseQuantity(value) * share) : value]];
      }),
    );
  return {
    ...(Object.keys(requests).length > 0 && { requests: scaled(requests) }),
    ...(Object.keys(limits).length > 0 && { limits: scaled(limits) }),
  };
}
