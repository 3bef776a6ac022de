import type { Kube, KubeObject, Resource } from '../../../reconcile/interfaces/kube.ts';

/** Knative's own Ingress (networking.internal.knative.dev), as far as its implementation reads it. */
export interface Ingress extends KubeObject {
  readonly spec: { readonly rules?: readonly Rule[] };
  readonly status?: object;
}

interface Rule {
  readonly hosts?: readonly string[];
  readonly visibility?: 'ExternalIP' | 'ClusterLocal';
  readonly http?: { readonly paths: readonly Path[] };
}

interface Path {
  readonly path?: string;
  readonly rewriteHost?: string;
  readonly appendHeaders?: Readonly<Record<string, string>>;
  readonly splits: readonly Split[];
}

interface Split {
  readonly serviceNamespace: string;
  readonly serviceName: string;
  readonly servicePort: number | string;
  readonly percent?: number;
  readonly appendHeaders?: Readonly<Record<string, string>>;
}

/** Where a request goes, and what it bears then. */
export interface Onward {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

export const ingressResource: Resource = {
  apiVersion: 'networking.internal.knative.dev/v1alpha1',
  kind: 'Ingress',
  plural: 'ingresses',
};

const anywhere = (given: readonly Rule[], host: string, isPublic: boolean): readonly Path[] =>
  given
    .filter(({ hosts = [], visibility = 'ExternalIP' }) => {
      return hosts.includes(host) && (!isPublic || visibility === 'ExternalIP');
    })
    .flatMap(({ http }) => http?.paths ?? []);

/** By the host and path of a request; `undefined`: nothing of that name is served here. */
export function onwardOf(
  ingresses: Iterable<Ingress>,
  { host, path }: { readonly host: string; readonly path: string },
  { isPublic, draw }: { readonly isPublic: boolean; readonly draw: () => number },
): Onward | undefined {
  const paths = [...ingresses].flatMap(({ spec }) => anywhere(spec.rules ?? [], host, isPublic));
  const longest = (one: Path) => one.path?.length ?? 0;
  const [found] = paths
    .filter((one) => path.startsWith(one.path ?? ''))
    .toSorted((one, other) => longest(other) - longest(one));
  const split = found && drawn(found.splits, draw() * 100);
  if (!split) return undefined;
  return {
    namespace: split.serviceNamespace,
    service: split.serviceName,
    port: Number(split.servicePort),
    headers: {
      ...found.appendHeaders,
      ...split.appendHeaders,
      ...(found.rewriteHost !== undefined && { host: found.rewriteHost }),
    },
  };
}

function drawn(splits: readonly Split[], at: number): Split | undefined {
  let sum = 0;
  return splits.find(({ percent = splits.length === 1 ? 100 : 0 }) => {
    sum += percent;
    return at < sum;
  });
}

/** Ready, reached at this name inside the cluster: what an implementation says once it serves what the spec says. */
export async function tellReady(kube: Kube, ingress: Ingress, domainInternal: string): Promise<void> {
  const balancer = { ingress: [{ domainInternal }] };
  const lastTransitionTime = new Date().toISOString();
  const isTrue = (type: string) => ({ type, status: 'True', lastTransitionTime });
  await kube.updateStatus(ingressResource, {
    ...ingress,
    status: {
      observedGeneration: (ingress.metadata as { readonly generation?: number }).generation,
      conditions: ['LoadBalancerReady', 'NetworkConfigured', 'Ready'].map(isTrue),
      publicLoadBalancer: balancer,
      privateLoadBalancer: balancer,
    },
  });
}

/** Whether the status is about this spec. */
export function isTold({ metadata, status }: Ingress): boolean {
  const { observedGeneration } = (status ?? {}) as { readonly observedGeneration?: number };
  return observedGeneration === (metadata as { readonly generation?: number }).generation;
}
