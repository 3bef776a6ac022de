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
const enough = { memory: { units: 512, unit: 'Mi' }, cpu: { units: 1000, unit: 'm' } } as const;

/**
 * The same keys in the same ratio of request to limit, which a ResourceQuota and a LimitRange may demand, so small that
 * the larger of the two is enough for our program. Of other resources it takes what is no device.
 */
export function smallerResources({ requests = {}, limits = {} }: ResourceRequirements): ResourceRequirements {
  const scaled = (list: Readonly<Record<string, Quantity>>) =>
    Object.fromEntries(
      Object.entries(list).flatMap(([name, value]): [string, Quantity][] => {
        if (name !== 'memory' && name !== 'cpu') return name === 'ephemeral-storage' ? [[name, value]] : [];
        const { units, unit } = enough[name];
        const larger = parseQuantity(limits[name] ?? requests[name] ?? value);
        if (larger <= parseQuantity(`${units}${unit}`)) return [[name, value]];
        // Up: with less for a request, its limit would be more times as much than a LimitRange lets a member have.
        const share = Math.ceil((parseQuantity(value) / larger) * units);
        return [[name, `${Math.min(share, units)}${unit}`]];
      }),
    );
  return {
    ...(Object.keys(requests).length > 0 && { requests: scaled(requests) }),
    ...(Object.keys(limits).length > 0 && { limits: scaled(limits) }),
  };
}
