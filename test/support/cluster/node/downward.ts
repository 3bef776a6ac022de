import { ConfigError } from './env.ts';
import { inUnits } from './quantity.ts';
import type { Container, Pod } from './wire.ts';

export type PodPlace = {
  /** Of each family, the primary one's first; empty before the pod has its network. */
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  readonly nodeName: string;
};

/**
 * What `fieldRef` gives (kubelet: pkg/fieldpath, makeEnvironmentVariables). @throws ConfigError for an unknown path.
 */
export function podField(pod: Pod, place: PodPlace, path: string): string {
  const keyed = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path);
  if (keyed) return pod.metadata[keyed[1] as 'labels' | 'annotations']?.[keyed[2] ?? ''] ?? '';
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace;
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'metadata.labels':
      return formatMap(pod.metadata.labels);
    case 'metadata.annotations':
      return formatMap(pod.metadata.annotations);
    case 'spec.nodeName':
      return place.nodeName;
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? 'default';
    case 'status.podIP':
      return place.podIPs[0] ?? '';
    case 'status.podIPs':
      return place.podIPs.join(',');
    case 'status.hostIP':
      return place.hostIPs[0] ?? '';
    case 'status.hostIPs':
      return place.hostIPs.join(',');
    default:
      throw new ConfigError(`unsupported fieldPath: ${path}`);
  }
}

/** What `resourceFieldRef` gives; without a limit, the node's allocatable amount. @throws ConfigError */
export function containerResource(
  pod: Pod,
  allocatable: Readonly<Record<string, string>>,
  of: { resource: string; container: string; divisor?: string | undefined },
): string {
  const container = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    ({ name }) => name === of.container,
  );
  if (!container) throw new ConfigError(`container ${of.container} not found`);
  const [kind, ...rest] = of.resource.split('.');
  const name = rest.join('.');
  if (kind !== 'limits' && kind !== 'requests') throw new ConfigError(`unsupported container resource: ${of.resource}`);
  return inUnits(amount(container, kind, name) ?? (kind === 'limits' ? (allocatable[name] ?? '0') : '0'), of.divisor);
}

function amount({ resources }: Container, kind: 'limits' | 'requests', name: string): string | undefined {
  return resources?.[kind]?.[name] ?? (kind === 'requests' ? resources?.limits?.[name] : undefined);
}

/** One `key="value"` a line, sorted, quoted as Go's %q does. */
function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');
}
